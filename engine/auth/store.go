package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// Where the key is in the keyring and in the file.
const (
	service = "gemini-cli-api-key"
	entry   = "default-api-key"
)

// patience is how long the keyring may take. Behind it there may be a service
// that asks the user something nobody sees.
const patience = 3 * time.Second

// A Store keeps the user's key: in the keyring of the system, or in a file
// where there is none. The Gemini CLI's key is the same one.
type Store struct {
	file   File
	ring   keyring.Keyring // nil if it is not to be used
	mark   string          // a file that is there if a key is in the keyring; may be empty
	waited time.Duration
}

// NewStore returns the Store whose file is in dir, the user's own directory.
// It opens nothing. Unless getenv says otherwise, the keyring comes first.
func NewStore(dir string, getenv func(string) string) *Store {
	s := &Store{file: NewFile(dir), waited: patience}
	if dir != "" {
		s.mark = filepath.Join(dir, "gemline", "key-in-keyring")
	}
	if !on(getenv("GEMINI_FORCE_FILE_STORAGE")) {
		s.ring = system{}
	}
	return s
}

// system is the keyring of the system.
type system struct{}

func (system) Get(s, user string) (string, error) { return keyring.Get(s, user) }
func (system) Set(s, user, secret string) error   { return keyring.Set(s, user, secret) }
func (system) Delete(s, user string) error        { return keyring.Delete(s, user) }
func (system) DeleteAll(s string) error           { return keyring.DeleteAll(s) }

// Load returns the key and where it was, empty if none is stored.
func (s *Store) Load(ctx context.Context) (key, from string, err error) {
	if s.ring != nil {
		value, err := s.wait(ctx, func() (string, error) { return s.ring.Get(service, entry) })
		if key = unwrap(value); err == nil && key != "" {
			return key, "keyring", nil
		}
		if err := ctx.Err(); err != nil {
			return "", "", err
		}
	} // whatever is wrong with the keyring, the file may do
	value, err := s.file.Get(service, entry)
	if err != nil {
		return "", "", err
	}
	if key = unwrap(value); key == "" {
		return "", "", nil
	}
	return key, "file " + s.file.Path, nil
}

// May reports whether there may be a key for c, without asking the keyring,
// which may ask the user. A key is in the keyring if it was put there from here;
// the Gemini CLI chooses it in the settings.
func (s *Store) May(c Choice) bool {
	is := func(path string) bool { _, err := os.Stat(path); return err == nil }
	return is(s.file.Path) || s.ring != nil && (c.From != "" || is(s.mark))
}

// marked notes that there is a key in the keyring, or that there is none. What
// depends on it is only what the user is told.
func (s *Store) marked(there bool) {
	switch {
	case s.mark == "":
	case !there:
		os.Remove(s.mark)
	case os.MkdirAll(filepath.Dir(s.mark), 0o700) == nil:
		os.WriteFile(s.mark, nil, 0o600)
	}
}

// Find returns the key that c pays with and where it was. It is an error if
// none is stored.
func (s *Store) Find(ctx context.Context, c Choice) (key, from string, err error) {
	key, from, err = s.Load(ctx)
	if err == nil && key == "" {
		err = c.ErrNoKey()
	}
	return key, from, err
}

// Save stores the key and returns where. With filed, that is the file in any
// case. An older key is gone then.
func (s *Store) Save(ctx context.Context, key string, filed bool) (where string, err error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	value := wrap(key, time.Now())
	if s.ring != nil && !filed {
		_, err := s.wait(ctx, func() (string, error) { return "", s.ring.Set(service, entry, value) })
		if err == nil {
			s.file.Delete(ctx, service, entry) // if it can't be, the keyring still comes first
			s.marked(true)
			return "keyring", nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if err := s.file.Set(ctx, service, entry, value); err != nil {
		return "", err
	}
	if s.ring != nil { // it would come first
		s.forget(ctx)
	}
	return "file " + s.file.Path, nil
}

// Remove forgets the key, and returns where it was.
func (s *Store) Remove(ctx context.Context) (from []string, err error) {
	if s.ring != nil {
		if s.forget(ctx) == nil {
			from = append(from, "keyring")
		}
		s.marked(false)
	}
	had, err := s.file.Delete(ctx, service, entry)
	if had {
		from = append(from, "file "+s.file.Path)
	}
	return from, err
}

// The errors of a keyring that does not answer, and of a library that fell
// over what it answered.
var (
	errSlow = errors.New("the keyring does not answer")
	errFell = errors.New("the keyring can't be used")
)

// forget removes the key from the keyring.
func (s *Store) forget(ctx context.Context) error {
	_, err := s.wait(ctx, func() (string, error) { return "", s.ring.Delete(service, entry) })
	return err
}

// wait runs f, which may not return for a long time, and goes on without it if
// it takes too long: nothing can end it.
func (s *Store) wait(ctx context.Context, f func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.waited, errSlow)
	defer cancel()
	type result struct {
		value string
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errFell}
		defer func() { recover(); done <- r }() // of others, about others
		r.value, r.err = f()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// A token is how the Gemini CLI writes a key down.
type token struct {
	ServerName string `json:"serverName"`
	Token      struct {
		AccessToken string `json:"accessToken"`
		TokenType   string `json:"tokenType"`
	} `json:"token"`
	UpdatedAt int64 `json:"updatedAt"`
}

func wrap(key string, now time.Time) string {
	t := token{ServerName: entry, UpdatedAt: now.UnixMilli()}
	t.Token.AccessToken, t.Token.TokenType = key, "ApiKey"
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a number
	}
	return string(b)
}

// unwrap returns the key in a stored value, which may be the bare key, and
// nothing if it is neither.
func unwrap(value string) string {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "{") {
		var t token
		if json.Unmarshal([]byte(value), &t) != nil {
			return ""
		}
		value = t.Token.AccessToken
	}
	if CheckKey(value) != nil {
		return ""
	}
	return value
}

// String says where the key is kept, for error texts.
func (s *Store) String() string {
	if s.ring == nil {
		return "file " + s.file.Path
	}
	return fmt.Sprintf("keyring or file %s", s.file.Path)
}
