//go:build unix

package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPlaces stores where nothing can be stored.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo", FileName)
	if err := errors.Join(os.Mkdir(filepath.Dir(fifo), 0o700), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Skip(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "dir", FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"no home":      {"", "no home directory"},
		"a fifo":       {fifo, "not a regular file"},
		"a directory":  {filepath.Join(dir, "dir", FileName), "can't be read: is a directory"},
		"below a file": {"/dev/null/x/" + FileName, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Store{vault: Vault{file: fileOf(c.path, "host", "user"), waited: patience}}
			var e *Error
			if _, err := s.Save(t.Context(), secret, true); !errors.As(err, &e) || !strings.Contains(e.Message, c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
