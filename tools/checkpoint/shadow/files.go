package shadow

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"

	"gemline/engine/disk"
)

// Files is how a repository writes.
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

// put makes b the content of a file in dir, which it makes. The disk has it then, but
// perhaps not its name.
func (r *Repo) put(dir *os.Root, name string, b []byte) error {
	temp := fmt.Sprintf("%s%016x", temporary, rand.Uint64())
	f, err := r.files.Create(dir, temp)
	if err != nil {
		return err
	}
	n, err := f.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = r.files.Rename(dir, temp, name)
	}
	if err != nil {
		dir.Remove(temp)
	}
	return err
}

// sub opens a directory of the repository, which it makes.
func (r *Repo) sub(name string) (*os.Root, error) {
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

// read returns the content of a file of the repository.
func (r *Repo) read(name string, most int64) ([]byte, error) {
	f, _, err := r.dir.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return disk.Content(f, most)
}

// isGit reports whether a name is that of a repository, under any spelling.
func isGit(name string) bool { return disk.SameName(name, ".git") }

func fileName(sum []byte) string { return hex.EncodeToString(sum) }
