// Package atomic replaces a file as a whole: whoever reads it finds the old
// content or the new one, whatever fails or is killed meanwhile. The new one is
// written beside it, flushed to the disk and renamed.
package atomic

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// A File is written to take the place of another. It must be ended by Commit
// or Discard.
type File struct {
	file *os.File
	old  fs.FileInfo
}

// Create begins a file in the directory of path. Of a file that it is to
// replace, it gets the mode and, as far as the user may, the owner; old is nil
// if there is none. A symbolic link at path would be replaced.
func Create(path string, old fs.FileInfo) (*File, error) {
	mode := fs.FileMode(0o666) // less the umask
	if old != nil {
		mode = 0o600 // until it has the mode of old
	}
	f, err := createTemp(filepath.Dir(path), mode)
	if err != nil {
		return nil, err
	}
	return &File{file: f, old: old}, nil
}

// Write adds b to the new content.
func (f *File) Write(b []byte) (int, error) { return f.file.Write(b) }

// Copy writes to w what was written so far.
func (f *File) Copy(w io.Writer) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(f.file, 0, info.Size()))
	return err
}

// Commit puts the file at path, which is in the same directory. After an error,
// what is at path is as it was, and the new content can still be copied until
// Discard.
func (f *File) Commit(path string) error {
	if f.old != nil {
		own(f.file, f.old)
		if err := f.file.Chmod(f.old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return err
		}
	}
	if err := f.file.Sync(); err != nil {
		return err
	}
	if err := rename(f.file, path); err != nil {
		return err
	}
	settle(filepath.Dir(path))
	return nil
}

// Discard gives the file up. After a Commit it does nothing.
func (f *File) Discard() {
	if f.file.Close() == nil {
		os.Remove(f.file.Name())
	}
}

func createTemp(dir string, mode fs.FileMode) (*os.File, error) {
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".gemline-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "create", Path: dir, Err: fs.ErrExist}
}
