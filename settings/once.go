package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Once reports whether this is the first time that the user is told or asked
// what name stands for, and remembers it. Where nothing can be remembered, it
// never is.
func (p Paths) Once(name string) bool {
	path := p.User("gemline", name)
	if path == "" {
		return false
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
