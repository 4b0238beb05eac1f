package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
)

// Files is how a store writes.
type Files interface {
	Create(dir *os.Root, name string) (File, error)
	Rename(dir *os.Root, from, to string) error
	Sync(dir *os.Root) error // has the disk keep which names dir has
}

// A File is one that is being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS are the system's files.
type OS struct{}

// Create implements [Files].
func (OS) Create(dir *os.Root, name string) (File, error) {
	return dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Rename implements [Files].
func (OS) Rename(dir *os.Root, from, to string) error { return dir.Rename(from, to) }

// Sync implements [Files].
func (OS) Sync(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	d.Sync() // some file systems can't
	return nil
}

// temporary is how names begin of files that are not whole yet.
const temporary = "tmp-"

// A draft is a file of the store that is being written beside its name.
type draft struct {
	files Files
	dir   *os.Root
	name  string
	file  File
}

// draft begins a file in a directory of the store.
func (r *repo) draft(dir string) (*draft, error) {
	at, err := r.sub(dir)
	if err != nil {
		return nil, err
	}
	d := &draft{files: r.files, dir: at, name: fmt.Sprintf("%s%016x", temporary, rand.Uint64())}
	if d.file, err = r.files.Create(at, d.name); err != nil {
		at.Close()
		return nil, err
	}
	return d, nil
}

// keep gives the file its name. The disk has both then.
func (d *draft) keep(name string) error {
	err := d.file.Sync()
	if cerr := d.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = d.files.Rename(d.dir, d.name, name)
	}
	if err == nil {
		err = d.files.Sync(d.dir)
	} else {
		d.dir.Remove(d.name)
	}
	d.dir.Close()
	return err
}

// discard removes the file.
func (d *draft) discard() {
	d.file.Close()
	d.dir.Remove(d.name)
	d.dir.Close()
}

// put makes b the content of a file of the store.
func (r *repo) put(dir, name string, b []byte) error {
	d, err := r.draft(dir)
	if err != nil {
		return err
	}
	if n, err := d.file.Write(b); err != nil || n < len(b) {
		d.discard()
		return errors.Join(err, io.ErrShortWrite)
	}
	return d.keep(name)
}

// sub opens a directory of the store, which it makes.
func (r *repo) sub(name string) (*os.Root, error) {
	at, err := r.dir.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		var top *os.Root
		if top, err = r.dir.Sub("."); err != nil {
			return nil, err
		}
		defer top.Close()
		if err = top.MkdirAll(name, 0o700); err == nil {
			at, err = r.dir.Sub(name)
		}
	}
	return at, err
}

// read returns the content of a file of the store.
func (r *repo) read(name string, most int64) ([]byte, error) {
	f, _, err := r.dir.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.Content(f, most)
}

// CheckName refuses what no entry of a directory is called, and what git's repositories
// are called under any spelling.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || len(name) > 4096:
		return fmt.Errorf("%.80q can't be the name of a file", name)
	case disk.SameName(name, ".git"):
		return fmt.Errorf("%.80q is the name of a repository", name)
	}
	return nil
}

// checkPath refuses what no file of a project is called.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return fmt.Errorf("%.80q is no path", path)
	}
	for _, name := range parts(path) {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return nil
}

// CanName reports whether a session may have a name, which becomes that of a file.
func CanName(name string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	other := func(r rune) bool { return !strings.ContainsRune(chars, r) }
	return name != "" && len(name) <= 128 && name[0] != '.' && !strings.ContainsFunc(name, other) &&
		!strings.HasPrefix(name, temporary)
}
