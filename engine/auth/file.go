package auth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/scrypt"

	"gemline/engine/disk"
)

// FileName is the name of the file of credentials in the user's directory.
const FileName = "gemini-credentials.json"

// A File is a file of credentials in the format of the Gemini CLI: an object of services, each an
// object of values, encrypted for a user on a machine. Encryption protects the values in backups
// and from searches, but not from the user's programs; the file's mode excludes other users.
type File struct {
	Path string
	key  func() ([]byte, error) // for this user and machine; the first call is slow
}

// newFile returns the File in dir, for the current user and machine.
func newFile(dir string) File {
	path := ""
	if dir != "" {
		path = filepath.Join(dir, FileName)
	}
	host, _ := os.Hostname()
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	return fileOf(path, host, name)
}

func fileOf(path, host, user string) File {
	return File{Path: path, key: sync.OnceValues(func() ([]byte, error) {
		return scrypt.Key([]byte("gemini-cli-oauth"), []byte(host+"-"+user+"-gemini-cli"), 1<<14, 8, 1, 32)
	})}
}

// entries are values by service and account.
type entries map[string]map[string]json.RawMessage

// Get returns a value, empty if there is none.
func (f File) Get(service, account string) (string, error) {
	if f.Path == "" {
		return "", nil
	}
	all, err := f.read()
	if err != nil {
		return "", err
	}
	var value string
	if raw, ok := all[service][account]; ok && json.Unmarshal(raw, &value) != nil {
		value = string(raw) // an object, as JSON
	}
	return value, nil
}

// Set stores a value and leaves all others as they are.
func (f File) Set(ctx context.Context, service, account, value string) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.change(ctx, func(all entries) bool {
		if all[service] == nil {
			all[service] = map[string]json.RawMessage{}
		}
		all[service][account] = raw
		return true
	})
}

// Delete removes a value and reports whether it was there. A file that holds
// nothing more is removed.
func (f File) Delete(ctx context.Context, service, account string) (had bool, err error) {
	err = f.remove(ctx, func(all entries) bool {
		if _, had = all[service][account]; had {
			if delete(all[service], account); len(all[service]) == 0 {
				delete(all, service)
			}
		}
		return had
	})
	return had && err == nil, err
}

// Clear removes all values of a service.
func (f File) Clear(ctx context.Context, service string) error {
	return f.remove(ctx, func(all entries) bool {
		_, had := all[service]
		delete(all, service)
		return had
	})
}

// remove is change, for a file that may be missing.
func (f File) remove(ctx context.Context, edit func(entries) bool) error {
	if _, err := os.Stat(f.Path); f.Path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.change(ctx, edit)
}

// change reads the file, lets edit change the entries, and writes the file if edit returns
// true. It locks out other processes of the program meanwhile.
func (f File) change(ctx context.Context, edit func(entries) bool) error {
	if f.Path == "" {
		return &Error{Message: "there is no home directory to keep a key in",
			Advice: "export GEMINI_API_KEY=... instead"}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	unlock, err := disk.Lock(ctx, f.Path)
	if err != nil {
		return f.unwritten(err)
	}
	defer unlock()
	all, err := f.read()
	if err != nil || !edit(all) {
		return err
	}
	return f.write(all)
}

func (f File) read() (entries, error) {
	text, err := disk.Read(f.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(text)) == "" {
		return entries{}, nil
	}
	if err != nil {
		err = disk.Cause(err)
		return nil, &Error{Message: fmt.Sprintf("%s can't be read: %v", f.Path, err),
			Advice: "mend or remove it", Err: err}
	}
	all, err := f.decrypt(string(text))
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("%s can't be opened: it was made by another user or on another machine, or it is damaged (%v)", f.Path, err),
			Advice: "it is left as it is; move it away and store the key again with gemline auth set-key", Err: err}
	}
	return all, nil
}

// write replaces the file as a whole.
func (f File) write(all entries) error {
	if len(all) == 0 {
		if err := os.Remove(disk.ResolveLinks(f.Path)); err != nil {
			return f.unwritten(err)
		}
		return nil
	}
	text, err := f.encrypt(all)
	if err != nil {
		return f.unwritten(err)
	}
	disk.Restrict(f.Path)
	if err := disk.Replace(f.Path, []byte(text), 0o600); err != nil {
		return f.unwritten(err)
	}
	return nil
}

func (f File) unwritten(err error) error {
	err = disk.Cause(err)
	return &Error{Message: fmt.Sprintf("the key can't be stored in %s: %v", f.Path, err),
		Advice: "export GEMINI_API_KEY=... instead", Err: err}
}

// aead returns the cipher, for nonces of the given length.
func (f File) aead(nonce int) (cipher.AEAD, error) {
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithNonceSize(block, nonce)
}

const tagSize = 16

// encrypt returns the text of the file: nonce, tag and cipher, in hexadecimal.
func (f File) encrypt(all entries) (string, error) {
	const nonceSize = 12
	clear, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	gcm, err := f.aead(nonceSize)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails
	sealed := gcm.Seal(nil, nonce, clear, nil)
	sealed, tag := sealed[:len(sealed)-tagSize], sealed[len(sealed)-tagSize:]
	return hex.EncodeToString(nonce) + ":" + hex.EncodeToString(tag) + ":" + hex.EncodeToString(sealed), nil
}

// decrypt reads the text of the file.
func (f File) decrypt(text string) (entries, error) {
	fields := strings.Split(strings.TrimSpace(text), ":")
	if len(fields) != 3 {
		return nil, errors.New("it does not have three parts")
	}
	var parts [3][]byte
	for i, field := range fields {
		b, err := hex.DecodeString(field)
		if err != nil {
			return nil, errors.New("it is not hexadecimal")
		}
		parts[i] = b
	}
	nonce, tag, sealed := parts[0], parts[1], parts[2]
	if n := len(nonce); n != 12 && n != 16 || len(tag) != tagSize {
		return nil, errors.New("its parts have the wrong lengths")
	}
	gcm, err := f.aead(len(nonce))
	if err != nil {
		return nil, err
	}
	clear, err := gcm.Open(nil, nonce, append(sealed, tag...), nil)
	if err != nil {
		return nil, errors.New("it can't be decrypted")
	}
	all := entries{}
	if err := json.Unmarshal(clear, &all); err != nil || all == nil {
		return nil, errors.New("it holds something else")
	}
	return all, nil
}
