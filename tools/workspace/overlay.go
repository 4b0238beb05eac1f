package workspace

import (
	"bytes"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// An Overlay stores written files in memory, and shows them to readers of the same Workspace
// as if they were on the disk, which does not change. The zero Overlay holds nothing; a nil
// one is the disk itself. It is safe for concurrent use.
//
// All operations on files of the workspace use a [ResolvedPath], so no reader can miss a
// written file. An Overlay identifies files by their real paths. It holds no links, so links
// are resolved on the disk.
type Overlay struct {
	mu   sync.RWMutex
	dirs map[string]map[string]*node // by directory and name
}

// A Change is a written file with its old and new content.
type Change struct {
	Path     string // real
	Created  bool   // the file is new
	Mode     fs.FileMode
	Old, New []byte
}

// Changes returns the differences from the disk at the first write to each file, sorted by
// path.
func (o *Overlay) Changes() []Change {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var all []Change
	for _, names := range o.dirs {
		for _, n := range names {
			if n.mode.IsRegular() && (n.made || !bytes.Equal(n.old, n.now)) {
				all = append(all, Change{Path: n.path, Created: n.made, Mode: n.mode, Old: n.old, New: n.now})
			}
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// A node is a written file, or a parent directory of one. Nodes are immutable: a later write
// replaces the node.
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

// known returns the file written at a real path, or nil.
func (o *Overlay) known(real string) *node {
	if o == nil {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if len(o.dirs) == 0 {
		return nil
	}
	return o.at(real)
}

// in returns the files written in the directory at a real path, by names, and
// whether the directory is known at all.
func (o *Overlay) in(real string) (map[string]*node, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	names, there := o.dirs[folded(real)]
	return maps.Clone(names), there
}

// at returns the file written at a real path. The lock is held.
func (o *Overlay) at(real string) *node {
	return o.dirs[folded(filepath.Dir(real))][folded(filepath.Base(real))]
}

// named is a file that was opened under another name.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// put makes b the content of the file at p.
func (o *Overlay) put(p ResolvedPath, b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := &node{path: p.real, mode: 0o644, made: true}
	if was := o.at(p.real); was != nil {
		if was.IsDir() {
			return ErrDirectory
		}
		*n = *was
	} else if err := n.load(p); err != nil {
		return err
	}
	n.now, n.time = bytes.Clone(b), time.Now()
	todo, err := o.parents(p)
	if err != nil {
		return err
	}
	for _, dir := range todo {
		o.add(&node{path: dir, mode: fs.ModeDir | 0o755, time: n.time, made: true})
	}
	o.add(n)
	return nil
}

// load reads the file at p on the disk, if there is one.
func (n *node) load(p ResolvedPath) error {
	old, info, err := p.load(MaxFile)
	if err != nil && missing(err) {
		return nil
	}
	if err == nil {
		n.old, n.made, n.mode = old, false, info.Mode()
	}
	return err
}

// parents returns the parent directories of p that do not exist yet. The lock is held.
func (o *Overlay) parents(p ResolvedPath) (todo []string, err error) {
	for p.rel != "." {
		p.rel, p.real = filepath.Dir(p.rel), filepath.Dir(p.real)
		var info fs.FileInfo
		if n := o.at(p.real); n != nil {
			info = n
		} else if info, err = p.disk(); err != nil && missing(err) {
			todo = append(todo, p.real)
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

// add adds n at its path. The lock is held.
func (o *Overlay) add(n *node) {
	dir, name := folded(filepath.Dir(n.path)), folded(filepath.Base(n.path))
	if o.dirs == nil {
		o.dirs = map[string]map[string]*node{}
	}
	if o.dirs[dir] == nil {
		o.dirs[dir] = map[string]*node{}
	}
	o.dirs[dir][name] = n
}
