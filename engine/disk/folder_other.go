//go:build !unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
)

// A Folder is an open directory whose entries are looked at one by one. Names are
// those of entries; no link is followed.
type Folder struct {
	path string
	root *os.Root
}

// Folder opens the directory called name.
func (d *Dir) Folder(name string) (*Folder, error) {
	at, err := d.Sub(name)
	if err != nil {
		return nil, err
	}
	return &Folder{filepath.Join(d.path, name), at}, nil
}

// Folder opens the directory called name.
func (f *Folder) Folder(name string) (*Folder, error) {
	at, err := step(f.root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: Cause(err)}
	}
	return &Folder{filepath.Join(f.path, name), at}, nil
}

// Close closes the directory.
func (f *Folder) Close() { f.root.Close() }

// Names returns the names of the entries, in no order.
func (f *Folder) Names() ([]string, error) {
	file, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// Stat returns the metadata of the directory itself.
func (f *Folder) Stat() (Stat, error) { return f.StatAt(".") }

// StatAt returns the metadata of an entry, without following a link.
func (f *Folder) StatAt(name string) (Stat, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return Stat{}, err
	}
	return Stat{Mode: info.Mode(), Size: info.Size(), Modified: info.ModTime().UnixNano(),
		Changed: info.ModTime().UnixNano()}, nil
}

// File opens a regular file for reading.
func (f *Folder) File(name string) (*os.File, error) {
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
func (f *Folder) Readlink(name string) (string, error) { return f.root.Readlink(name) }
