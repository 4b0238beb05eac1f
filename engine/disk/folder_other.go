//go:build !unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A RawDir is an open directory whose entries are looked at one by one. Names are
// those of entries; no link is followed.
type RawDir struct {
	path string
	root *os.Root
}

// RawDir opens the directory called name.
func (d *Dir) RawDir(name string) (*RawDir, error) {
	at, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	return &RawDir{filepath.Join(d.path, name), at}, nil
}

// RawDir opens the directory called name.
func (f *RawDir) RawDir(name string) (*RawDir, error) {
	at, err := step(f.root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: Cause(err)}
	}
	return &RawDir{filepath.Join(f.path, name), at}, nil
}

// Close closes the directory.
func (f *RawDir) Close() { f.root.Close() }

// Names returns the names of the entries, in no order.
func (f *RawDir) Names() ([]string, error) {
	file, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// Stat returns the metadata of the directory itself.
func (f *RawDir) Stat() (Stat, error) { return f.StatAt(".") }

// StatAt returns the metadata of an entry, without following a link.
func (f *RawDir) StatAt(name string) (Stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return Stat{}, err
	}
	return Stat{Mode: info.Mode(), Size: info.Size(), Modified: info.ModTime().UnixNano(),
		Changed: info.ModTime().UnixNano()}, nil
}

// File opens a regular file for reading.
func (f *RawDir) File(name string) (*os.File, error) {
	was, err := f.root.Lstat(name)
	if err == nil {
		err = Regular(was)
	}
	if err != nil {
		return nil, err
	}
	return f.root.Open(name)
}

// Readlink returns where a link leads.
func (f *RawDir) Readlink(name string) (string, error) { return f.root.Readlink(name) }
