package checkpoint

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// A tracking says which content of a file or a directory is stored.
type tracking byte

const (
	explicit tracking = iota // a file that an edit names, and the directories above it
	full                     // a file that is not ignored
	ignored                  // no content, only the result of stat
)

// A node is a file or a directory at its last scan. A missing file has no mode and no sum.
type node struct {
	name     string
	up       *node
	kids     []*node // by name
	look     disk.Stat
	sum      Sum     // of the content, of a link's target, or isDir; "" if not stored
	was      Version // in the last state of the session, see [history.differs]
	tracking tracking
	settled  bool // an equal stat means an equal file
	git      bool // it holds a repository, or a file that names one
	own      bool // calls have made it, and nobody else has changed it since
}

// kid returns the entry with a name, and creates a missing one if wanted is true.
func (n *node) kid(name string, wanted bool) *node {
	i, ok := slices.BinarySearchFunc(n.kids, name, func(k *node, name string) int { return strings.Compare(k.name, name) })
	if ok {
		return n.kids[i]
	}
	if !wanted {
		return nil
	}
	k := &node{name: name, up: n}
	n.kids = slices.Insert(n.kids, i, k)
	return k
}

// at returns the node of a path. If the node is missing, it creates one if wanted is true,
// else it returns nil.
func (n *node) at(path string, wanted bool) *node {
	for _, name := range parts(path) {
		if n = n.kid(name, wanted); n == nil {
			return nil
		}
	}
	return n
}

// path returns the path of n.
func (n *node) path() string {
	if n.up == nil {
		return ""
	}
	return joined(n.up.path(), n.name)
}

// exists reports whether n existed at its last scan.
func (n *node) exists() bool { return n.look != disk.Stat{} }

// gone notes that n and everything below it are absent.
func (n *node) gone() {
	n.look, n.sum, n.settled, n.git = disk.Stat{}, "", false, false
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		k.gone()
		return k.empty()
	})
}

// become sets whether n is a directory. If that changes, the earlier state of n is dropped.
func (n *node) become(dir bool) {
	if n.exists() && n.look.Mode.IsDir() != dir {
		n.gone()
	}
}

// empty reports whether n exists neither now nor in the last state, and has no entries.
func (n *node) empty() bool { return !n.exists() && !n.was.Exists() && len(n.kids) == 0 }

// isDir is the sum of a stored directory.
const isDir Sum = "/"

// version returns the stored version of n, the zero Version if n is not stored.
func (n *node) version() Version {
	switch {
	case n.sum == "":
		return Version{}
	case !n.exists(): // a directory above the roots
		return Version{Mode: fs.ModeDir | 0o755}
	case n.look.Mode.IsDir():
		return Version{Mode: keptMode(n.look.Mode)}
	}
	return Version{keptMode(n.look.Mode), n.sum}
}

// files appends the stored files below n to list.
func (n *node) files(list []*node) []*node {
	for _, k := range n.kids {
		if list = k.files(list); k.sum != "" && !k.version().dir() {
			list = append(list, k)
		}
	}
	return list
}

// keptMode returns the bits of a mode that are stored.
func keptMode(mode fs.FileMode) fs.FileMode {
	if mode&fs.ModeSymlink != 0 {
		return fs.ModeSymlink | 0o777
	}
	return mode & (fs.ModeDir | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// clean marks n, and all nodes below it, as equal to the last state.
func (n *node) clean() {
	n.was = n.version()
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		k.clean()
		return k.empty()
	})
}

// forget drops the last state of n, and of the nodes below it.
func (n *node) forget() {
	n.was = Version{}
	for _, k := range n.kids {
		k.forget()
	}
}

// diff adds to list the differences of n, and of the nodes below it, from the last state.
func (n *node) diff(list []Change) []Change {
	at, some := len(list), false
	for _, k := range n.kids {
		list = k.diff(list)
		some = some || k.sum != ""
	}
	if !n.exists() || n.look.Mode.IsDir() {
		n.sum = ""
		if n.up == nil || some || n.exists() && n.tracking != ignored {
			n.sum = isDir
		}
	}
	is := n.version()
	if n.up == nil || is == n.was {
		return list
	}
	// A directory comes before its entries.
	return slices.Insert(list, at, Change{Path: n.path(), Before: n.was, After: is, size: n.look.Size, time: n.look.Modified})
}

// parts returns the names of a path that is absolute.
func parts(path string) []string {
	path = filepath.ToSlash(path)
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// joined returns the path of a name below a path, which is "" for the top.
func joined(path, name string) string {
	const sep = string(filepath.Separator)
	if path == "" && sep != "/" {
		return name + sep
	}
	return strings.TrimSuffix(path, sep) + sep + name
}
