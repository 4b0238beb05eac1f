package checkpoint

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
func (r *store) draft(dir string) (*draft, error) {
	at, err := r.dir.Sub(dir)
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
	defer d.dir.Close()
	err := cmp.Or(d.file.Sync(), d.file.Close())
	if err == nil {
		err = d.files.Rename(d.dir, d.name, name)
	}
	if err != nil {
		d.dir.Remove(d.name)
		return err
	}
	return d.files.Sync(d.dir)
}

// discard removes the file.
func (d *draft) discard() {
	d.file.Close()
	d.dir.Remove(d.name)
	d.dir.Close()
}

// put makes b the content of a file of the store.
func (r *store) put(dir, name string, b []byte) error {
	d, err := r.draft(dir)
	if err != nil {
		return err
	}
	if _, err := d.file.Write(b); err != nil {
		d.discard()
		return err
	}
	return d.keep(name)
}

// read returns the content of a file of the store.
func (r *store) read(name string, most int64) ([]byte, error) {
	f, _, err := r.dir.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.Content(f, most)
}

// isGit reports whether git's repositories are called so, under any spelling.
func isGit(name string) bool { return disk.SameName(name, ".git") }

// checkPath refuses what no file of a project is called.
func checkPath(path string) error {
	const most = 32 << 10
	if !filepath.IsAbs(path) || path != filepath.Clean(path) || len(path) > most || strings.Contains(path, "\x00") {
		return fmt.Errorf("%.80q is no path", path)
	}
	if slices.ContainsFunc(parts(path), isGit) {
		return fmt.Errorf("%.80q lies in a repository", path)
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
