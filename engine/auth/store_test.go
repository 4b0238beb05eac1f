package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// ring is a keyring in memory, which may be broken.
type ring struct {
	values map[string]string
	err    error
	block  chan bool
}

func (r *ring) do() error {
	if r.block != nil {
		<-r.block
	}
	return r.err
}

func (r *ring) Get(s, user string) (string, error) {
	if err := r.do(); err != nil {
		return "", err
	}
	v, ok := r.values[s+"/"+user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return v, nil
}

func (r *ring) Set(s, user, secret string) error {
	if err := r.do(); err != nil {
		return err
	}
	r.values[s+"/"+user] = secret
	return nil
}

func (r *ring) Delete(s, user string) error {
	_, err := r.Get(s, user)
	delete(r.values, s+"/"+user)
	return err
}

func (r *ring) DeleteAll(string) error { return r.do() }

const secret = "AIza-secret_0123"

func stored(t *testing.T, r keyring.Keyring) *Store {
	return &Store{vault: Vault{file: fileOf(filepath.Join(t.TempDir(), ".gemini", FileName), "host", "user"), ring: r, waited: patience}}
}

// TestStore keeps a key and forgets it, wherever it can be kept.
func TestStore(t *testing.T) {
	working := func() keyring.Keyring { return &ring{values: map[string]string{}} }
	broken := func() keyring.Keyring { return &ring{err: errors.New("no bus")} }
	for _, c := range []struct {
		name  string
		ring  func() keyring.Keyring
		filed bool
		where string
	}{
		{"keyring", working, false, "keyring"},
		{"file forced", working, true, "file"},
		{"broken keyring", broken, false, "file"},
		{"no keyring", nil, false, "file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stored(t, nil)
			if c.ring != nil {
				s.vault.ring = c.ring()
			}
			if key, from, err := s.load(t.Context()); key+from != "" || err != nil {
				t.Fatalf("loaded %q from %q, %v", key, from, err)
			}
			if from, err := s.Remove(t.Context()); len(from) != 0 || err != nil {
				t.Fatalf("removed from %q, %v", from, err)
			}
			for _, key := range []string{"older", secret} {
				where, err := s.Save(t.Context(), key, c.filed)
				if err != nil || !strings.HasPrefix(where, c.where) {
					t.Fatalf("stored in %q, %v", where, err)
				}
			}
			key, from, err := s.load(t.Context())
			if key != secret || !strings.HasPrefix(from, c.where) || err != nil {
				t.Errorf("loaded %q from %q, %v", key, from, err)
			}
			if gone, err := s.Remove(t.Context()); len(gone) != 1 || err != nil {
				t.Errorf("removed from %q, %v", gone, err)
			}
			if key, _, err := s.load(t.Context()); key != "" || err != nil {
				t.Errorf("loaded %q after it was removed, %v", key, err)
			}
		})
	}
}

// TestMoved stores in one place what was in the other.
func TestMoved(t *testing.T) {
	r := &ring{values: map[string]string{}}
	s := stored(t, r)
	for _, c := range []struct {
		key   string
		filed bool
	}{{"one", false}, {"two", true}, {"three", false}} {
		if _, err := s.Save(t.Context(), c.key, c.filed); err != nil {
			t.Fatal(err)
		}
		key, _, err := s.load(t.Context())
		if key != c.key || err != nil {
			t.Errorf("loaded %q, want %q; %v", key, c.key, err)
		}
		if n := len(r.values); n == 1 == c.filed {
			t.Errorf("%d values in the keyring", n)
		}
	}
}

// TestBlocked goes on without a keyring that never answers.
func TestBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &ring{block: make(chan bool), err: errors.New("too late")}
		defer close(r.block)
		s := stored(t, r)
		start := time.Now()
		where, err := s.Save(t.Context(), secret, false)
		if !strings.HasPrefix(where, "file ") || err != nil {
			t.Errorf("stored in %q, %v", where, err)
		}
		key, _, err := s.load(t.Context())
		if key != secret || err != nil || time.Since(start) > 4*patience {
			t.Errorf("loaded %q after %s, %v", key, time.Since(start), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := s.load(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestUnwrap(t *testing.T) {
	for value, want := range map[string]string{
		"":                              "",
		secret:                          secret,
		secret + "\n":                   secret,
		"two words":                     "",
		wrap(entry, secret, time.Now()): secret,
		`{"serverName":"default-api-key","token":{"accessToken":"abc","tokenType":"ApiKey"},"updatedAt":1}`: "abc",
		`{"token":{}}`:               "",
		`{"token":"x"}`:              "",
		`{"token":{"accessToken":"a`: "",
	} {
		if got := unwrap(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// nodeMade is what Node's scryptSync and aes-256-gcm make for the user "user"
// of "host": two services, of which one is ours.
const nodeMade = "000102030405060708090a0b:5c9b237a841c82673ae96ed1e1d3919f:e3bb6fc19f0dc664e6bb58c6ab66eb2cb6d7d20d442182c4a7dac0210f9e3c458ff171a3f81c0b7eb8bbec4f79ae88d0121ba08286b2facf60c6129439ae84f4047747d6fe5ff70650df91396708f312363f516c8abd713f4034f6"

// TestFormat reads and writes what the Gemini CLI does.
func TestFormat(t *testing.T) {
	f := fileOf("", "host", "user")
	all := entries{"gemini-cli-oauth": {"srv": json.RawMessage(`"v"`)}}
	text, err := f.encrypt(all)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 || len(parts[0]) != 24 || len(parts[1]) != 32 || strings.ToLower(text) != text {
		t.Errorf("%s", text)
	}
	again, err := f.encrypt(all)
	if err != nil || again == text {
		t.Error("the nonce is the same twice")
	}
	back, err := f.decrypt(text + "\n")
	if err != nil || string(back["gemini-cli-oauth"]["srv"]) != `"v"` {
		t.Errorf("%v, %v", back, err)
	}
	back, err = f.decrypt(nodeMade)
	if err != nil || string(back[service][entry]) != `"AIza-from-node"` {
		t.Errorf("%v, %v", back, err)
	}
}

// TestOthersKept changes one value of a file and leaves the others.
func TestOthersKept(t *testing.T) {
	s := stored(t, nil)
	if err := s.vault.file.Set(t.Context(), "gemini-cli-oauth", "srv", "token"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.vault.file.Path, 0o644); err != nil { // as others may have made it
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), secret, true); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.vault.file.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(s.vault.file.Path)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if b, _ := os.ReadFile(s.vault.file.Path); strings.Contains(string(b), secret) {
		t.Error("the key stands in the file as it is")
	}
	if _, err := s.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := s.vault.file.Get("gemini-cli-oauth", "srv"); v != "token" || err != nil {
		t.Errorf("the other value: %q, %v", v, err)
	}
	if _, err := s.vault.file.Delete(t.Context(), "gemini-cli-oauth", "srv"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.vault.file.Path); !os.IsNotExist(err) {
		t.Errorf("an empty file is left: %v", err)
	}
}

// TestUnreadable leaves alone what can't be read.
func TestUnreadable(t *testing.T) {
	foreign, err := fileOf("", "elsewhere", "user").encrypt(entries{})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"foreign": foreign, "cut": foreign[:len(foreign)-2], "text": "hello", "json": `{"a":1}`, "hex": "zz:zz:zz", "short": "00:00:00",
	} {
		t.Run(name, func(t *testing.T) {
			s := stored(t, nil)
			if err := os.MkdirAll(filepath.Dir(s.vault.file.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.vault.file.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, loading := s.load(t.Context())
			_, saving := s.Save(t.Context(), secret, false)
			_, removing := s.Remove(t.Context())
			for _, err := range []error{loading, saving, removing} {
				var e *Error
				if !errors.As(err, &e) || !strings.Contains(e.Message, s.vault.file.Path) || !strings.Contains(e.Advice, "left as it is") {
					t.Errorf("error %v", err)
				}
			}
			if b, _ := os.ReadFile(s.vault.file.Path); string(b) != text {
				t.Errorf("it was changed to %q", b)
			}
		})
	}
}

// TestLink writes to what a link leads to.
func TestLink(t *testing.T) {
	s := stored(t, nil)
	real := filepath.Join(t.TempDir(), "real")
	if err := errors.Join(os.WriteFile(real, nil, 0o600), os.MkdirAll(filepath.Dir(s.vault.file.Path), 0o700), os.Symlink(real, s.vault.file.Path)); err != nil {
		t.Skip(err)
	}
	if _, err := s.Save(t.Context(), secret, true); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(real); len(b) == 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Lstat(s.vault.file.Path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestManyWriters stores many values at once and loses none.
func TestManyWriters(t *testing.T) {
	f := stored(t, nil).vault.file
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := f.Set(t.Context(), "s", fmt.Sprint(i), "v"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		if v, err := f.Get("s", fmt.Sprint(i)); v != "v" || err != nil {
			t.Errorf("%d: %q, %v", i, v, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Path), ".gemline-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestCheckKey(t *testing.T) {
	for key, ok := range map[string]bool{secret: true, "": false, "a b": false, "a\n": false, "ä": false, "a\x00": false, strings.Repeat("k", 5000): false} {
		err := checkKey(key)
		if (err == nil) != ok || err != nil && key != "" && len(key) > 4 && strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// FuzzFile sees that whatever is in the file is read or refused, and that only
// the right user's is read.
func FuzzFile(f *testing.F) {
	one := fileOf("", "host", "user")
	text, err := one.encrypt(entries{service: {entry: json.RawMessage(`"k"`)}})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", text, "a:b:c", "::", text + ":", strings.ToUpper(text), nodeMade} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, err := one.decrypt(s)
		if err != nil {
			return
		}
		back, err := one.encrypt(all)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.decrypt(back); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}
