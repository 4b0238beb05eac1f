package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
)

// A File is a temporary file that replaces another file. It must be ended by Commit or Discard.
type File struct {
	file *os.File
	old  fs.FileInfo
	name string   // of file
	dir  *os.Root // the directory of name; nil if name is a path
}

// create creates a file whose name begins with prefix, after a call of note with the name. The
// umask applies to the mode.
func (f *File) create(prefix string, mode fs.FileMode, note func(name string)) (_ *File, err error) {
	open := os.OpenFile
	if f.dir != nil {
		open = f.dir.OpenFile
	}
	if f.old != nil {
		mode = 0o600 // until it has the mode of old
	}
	for range 100 {
		f.name = fmt.Sprintf("%s%016x", prefix, rand.Uint64())
		note(f.name)
		f.file, err = open(f.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, err
}

// Write adds b to the new content.
func (f *File) Write(b []byte) (int, error) { return f.file.Write(b) }

// Chmod gives the file a mode. If Commit replaces a file, the mode of that file counts.
func (f *File) Chmod(mode fs.FileMode) error { return f.file.Chmod(mode) }

// Sync flushes the bytes written so far, so that Commit has little left to do.
func (f *File) Sync() error { return f.file.Sync() }

// Commit renames the file to path, in the same directory. After an error, the file at path is
// unchanged.
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
	if err := f.rename(path); err != nil {
		return err
	}
	f.settle(path)
	return nil
}

// Swap is Commit for many files that are written together; it also sets the mode. If the system
// can flush all files at once, by [Dir.Flush], Swap does not wait for the disk.
func (f *File) Swap(path string, mode fs.FileMode) error {
	if f.old != nil {
		own(f.file, f.old)
	}
	if err := f.file.Chmod(mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
		return err
	}
	if !flushes {
		if err := f.file.Sync(); err != nil {
			return err
		}
	}
	return f.rename(path)
}

// move gives the file its final name.
func (f *File) move(path string) error {
	if f.dir != nil {
		return f.dir.Rename(f.name, path)
	}
	return os.Rename(f.name, path)
}

// Discard removes the file. After a Commit it does nothing.
func (f *File) Discard() {
	switch {
	case f.file.Close() != nil:
	case f.dir != nil:
		f.dir.Remove(f.name)
	default:
		os.Remove(f.name)
	}
}
