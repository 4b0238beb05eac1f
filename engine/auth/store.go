package auth

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The place of the key in the keyring and in the file.
const (
	service = "gemini-cli-api-key"
	entry   = "default-api-key"
)

// NewProviderStore returns the Store of the key of another provider than Google.
func NewProviderStore(dir string, getenv func(string) string, provider string) *Store {
	return &Store{vault: NewVault(dir, getenv), entry: provider + "-api-key"}
}

// Key returns the key that is stored and where it was, empty if none is.
func (s *Store) Key(ctx context.Context) (key, from string, err error) { return s.load(ctx) }

// A Store stores the user's key in the system's keyring or, without one, in a file. The key is
// shared with the Gemini CLI.
type Store struct {
	vault Vault
	entry string // in the keyring and in the file
	mark  string // a file that is there if a key is in the keyring; may be empty
}

// NewStore returns the Store whose file is in dir, the user's own directory.
// It opens nothing. Unless getenv says otherwise, the keyring comes first.
func NewStore(dir string, getenv func(string) string) *Store {
	s := &Store{vault: NewVault(dir, getenv), entry: entry}
	if dir != "" {
		s.mark = filepath.Join(dir, "gemline", "key-in-keyring")
	}
	return s
}

// load returns the key and where it was, empty if none is stored.
func (s *Store) load(ctx context.Context) (key, from string, err error) {
	value, from, err := s.vault.Get(ctx, service, s.entry, func(value string) bool { return unwrap(value) != "" })
	return unwrap(value), from, err
}

// MayHaveKey reports whether there may be a key for c. It does not access the keyring, which may
// ask the user. The keyring has a key if this program stored it, or if the settings, perhaps of
// the Gemini CLI, select it.
func (s *Store) MayHaveKey(c Credentials) bool {
	is := func(path string) bool { _, err := os.Stat(path); return err == nil }
	return is(s.vault.file.Path) || s.vault.ring != nil && (c.From != "" || is(s.mark))
}

// marked records whether the keyring has a key. The record affects only messages to the user.
func (s *Store) marked(there bool) {
	switch {
	case s.mark == "":
	case !there:
		os.Remove(s.mark)
	case os.MkdirAll(filepath.Dir(s.mark), 0o700) == nil:
		os.WriteFile(s.mark, nil, 0o600)
	}
}

// Find returns the stored key for c and its place. A missing key is an error.
func (s *Store) Find(ctx context.Context, c Credentials) (key, from string, err error) {
	key, from, err = s.load(ctx)
	if err == nil && key == "" {
		err = c.ErrNoKey()
	}
	return key, from, err
}

// Save stores the key, replaces an older key, and returns the place. With filed, the place is
// always the file.
func (s *Store) Save(ctx context.Context, key string, filed bool) (where string, err error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	where, err = s.vault.Set(ctx, service, s.entry, wrap(s.entry, key, time.Now()), filed)
	if where == inRing {
		s.marked(true)
	}
	return where, err
}

// Remove deletes the key, and returns its places.
func (s *Store) Remove(ctx context.Context) (from []string, err error) {
	if s.vault.ring != nil {
		s.marked(false)
	}
	return s.vault.Delete(ctx, service, s.entry)
}

// A token is the Gemini CLI's form of a stored key.
type token struct {
	ServerName string `json:"serverName"`
	Token      struct {
		AccessToken string `json:"accessToken"`
		TokenType   string `json:"tokenType"`
	} `json:"token"`
	UpdatedAt int64 `json:"updatedAt"`
}

func wrap(entry, key string, now time.Time) string {
	t := token{ServerName: entry, UpdatedAt: now.UnixMilli()}
	t.Token.AccessToken, t.Token.TokenType = key, "ApiKey"
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a number
	}
	return string(b)
}

// unwrap returns the key in a stored value: a token or the bare key. It returns "" for other
// values.
func unwrap(value string) string {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "{") {
		var t token
		if json.Unmarshal([]byte(value), &t) != nil {
			return ""
		}
		value = t.Token.AccessToken
	}
	if checkKey(value) != nil {
		return ""
	}
	return value
}
