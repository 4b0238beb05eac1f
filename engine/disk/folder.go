package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Stat is the metadata of a directory entry. Two equal Stats mean equal content, if the
// first is stable.
type Stat struct {
	Mode     fs.FileMode
	Size     int64
	Dev, Ino uint64

	Modified, Changed int64 // nanoseconds since 1970; 0 if unknown
}

// The ages of a change from which on the next change surely gets another time.
const (
	settled = 3 * time.Second
	soon    = 50 * time.Millisecond // on a disk of this machine: more than a tick of the kernel's clock
)

// Stable reports whether every change since the time at results in another Stat; local says that
// the file is on a disk of this machine.
func (l Stat) Stable(at time.Time, local bool) bool {
	before := at.Add(-settled)
	if local {
		before = at.Add(-soon)
	}
	return l.Changed != 0 && max(l.Changed, l.Modified) < before.UnixNano()
}

// StatOf returns the metadata that info describes.
func StatOf(info fs.FileInfo) Stat {
	s := Stat{Mode: info.Mode(), Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.identify(info)
	return s
}

// A RawDir is an open directory whose entries are read one by one. Names are names of entries; no
// link is followed.
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
	path := filepath.Join(f.path, name)
	at, err := step(f.root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: Cause(err)}
	}
	return &RawDir{path, at}, nil
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
	if err := rejectSyntheticFile(file); err != nil {
		return nil, &fs.PathError{Op: "open", Path: f.path, Err: err}
	}
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
	return StatOf(info), nil
}

// File opens a regular file for reading. It never blocks.
func (f *RawDir) File(name string) (*os.File, error) {
	file, _, err := openRegular(f.root, name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: Cause(err)}
	}
	return file, nil
}

// Readlink returns where a link leads.
func (f *RawDir) Readlink(name string) (string, error) { return f.root.Readlink(name) }
