package workspace

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An Overlay keeps in memory what is written, and shows it to whoever reads
// through the same Workspace: as if it were on the disk, which stays as it is.
// The zero Overlay holds nothing; a nil one is the disk itself. It is safe for
// concurrent use.
//
// Everything that this package does with a file of the workspace goes through
// the methods below, so no reader can miss what was written. An Overlay knows
// files by their real paths. It holds no links, so where a path leads is for
// the disk to say.
type Overlay struct {
	mu    sync.RWMutex
	dirs  map[string]map[string]*node // by directory and name
	names map[string]bool             // in any directory
}

// A Change is a file that was written, as it was and as it is now.
type Change struct {
	Path     string // real
	Made     bool   // there was no such file before
	Mode     fs.FileMode
	Old, New []byte
}

// Changes returns what is different from the disk as it was at the first write
// to each file, in the order of the paths.
func (o *Overlay) Changes() []Change {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var all []Change
	for _, names := range o.dirs {
		for _, n := range names {
			if n.mode.IsRegular() && (n.made || !bytes.Equal(n.old, n.now)) {
				all = append(all, Change{Path: n.path, Made: n.made, Mode: n.mode, Old: n.old, New: n.now})
			}
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// A node is a file that was written, or a directory that it needs. It does not
// change: a later write puts another in its place.
type node struct {
	path     string
	mode     fs.FileMode
	time     time.Time
	made     bool // it is not on the disk
	old, now []byte
}

func (n *node) Name() string       { return filepath.Base(n.path) }
func (n *node) Size() int64        { return int64(len(n.now)) }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return n.time }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }

// find returns what was written at path, the directory of which may be reached
// by links, or nil.
func (o *Overlay) find(path string) *node {
	if o == nil {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if !o.names[alike(filepath.Base(path))] { // most are not, and links cost time
		return nil
	}
	dir, err := follow(filepath.Dir(path))
	if err != nil {
		return nil
	}
	return o.at(filepath.Join(dir, filepath.Base(path)))
}

// at returns what was written at a real path. The lock is held.
func (o *Overlay) at(real string) *node {
	return o.dirs[alike(filepath.Dir(real))][alike(filepath.Base(real))]
}

// alike returns name as names are told apart.
func alike(name string) string {
	if caseless {
		return strings.ToLower(name)
	}
	return name
}

// lstat is [os.Lstat].
func (o *Overlay) lstat(path string) (fs.FileInfo, error) {
	if n := o.find(path); n != nil {
		return n, nil
	}
	return os.Lstat(path)
}

// stat is [os.Stat].
func (o *Overlay) stat(path string) (fs.FileInfo, error) {
	if o != nil {
		if real, err := follow(path); err == nil {
			if n := o.find(real); n != nil {
				return named{n, filepath.Base(path)}, nil
			}
		}
	}
	return os.Stat(path)
}

// named is a file that was reached by another name than its own.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// list returns what the directory at path holds, in no order; the path may be
// a link only if linked. There may be entries beside an error.
func (o *Overlay) list(path string, linked bool) (entries []fs.DirEntry, err error) {
	d, err := openDir(path, linked)
	if err == nil {
		entries, err = d.ReadDir(-1)
		d.Close()
	}
	if o == nil || err != nil && !missing(err) {
		return entries, err
	}
	real, ferr := follow(path)
	if ferr != nil {
		return entries, err
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	written, there := o.dirs[alike(real)]
	if !there {
		return entries, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return written[alike(e.Name())] != nil })
	for _, n := range written {
		entries = append(entries, fs.FileInfoToDirEntry(n))
	}
	return entries, nil
}

// read returns the content of the regular file at real, which has no links
// left, if it has no more than limit bytes; name is for errors.
func (o *Overlay) read(real, name string, limit int64) ([]byte, fs.FileInfo, error) {
	n := o.find(real)
	switch {
	case n == nil:
		return readFile(real, name, limit)
	case n.IsDir():
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: ErrDirectory}
	case n.Size() > limit:
		return nil, n, &SizeError{Path: name, Size: n.Size(), Limit: limit}
	}
	return bytes.Clone(n.now), n, nil
}

// put makes b the content of the file at real, which has no links left.
func (o *Overlay) put(real string, b []byte) error {
	if o == nil {
		return writeFile(real, b)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := &node{path: real, mode: 0o644, made: true}
	if was := o.at(real); was != nil {
		if was.IsDir() {
			return ErrDirectory
		}
		*n = *was
	} else if err := n.load(); err != nil {
		return err
	}
	n.now, n.time = bytes.Clone(b), time.Now()
	todo, err := o.parents(real)
	if err != nil {
		return err
	}
	for _, dir := range todo {
		o.add(&node{path: dir, mode: fs.ModeDir | 0o755, time: n.time, made: true})
	}
	o.add(n)
	return nil
}

// load takes over what the disk has at n's path, if anything.
func (n *node) load() error {
	info, err := os.Lstat(n.path)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := regular(info); err != nil {
		return err
	}
	n.old, info, err = readFile(n.path, n.path, MaxFile)
	if err == nil {
		n.made, n.mode = false, info.Mode()
	}
	return err
}

// parents returns the directories that path lies in and that are nowhere yet.
// The lock is held.
func (o *Overlay) parents(path string) (todo []string, err error) {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		var info fs.FileInfo
		if n := o.at(dir); n != nil {
			info = n
		} else if info, err = os.Lstat(dir); missing(err) {
			todo = append(todo, dir)
			continue
		} else if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, syscall.ENOTDIR
		}
		break
	}
	return todo, nil
}

// add puts n where its path says. The lock is held.
func (o *Overlay) add(n *node) {
	dir, name := alike(filepath.Dir(n.path)), alike(filepath.Base(n.path))
	if o.dirs == nil {
		o.dirs, o.names = map[string]map[string]*node{}, map[string]bool{}
	}
	if o.dirs[dir] == nil {
		o.dirs[dir] = map[string]*node{}
	}
	o.dirs[dir][name], o.names[name] = n, true
}
