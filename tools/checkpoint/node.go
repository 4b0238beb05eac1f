package checkpoint

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

// A tracking says what of a file or a directory is kept.
type tracking byte

const (
	explicit tracking = iota // a file that an edit names; a directory for those below it
	full                     // all that is not ignored
	ignored                  // nothing: it is looked at
)

// A node is a file or a directory as it was when it was looked at last. A missing file
// has no mode and no sum.
type node struct {
	name     string
	up       *node
	kids     []*node // by name
	look     disk.Stat
	sum      Sum     // of the content, of where a link leads, or isDir; "" is not kept
	was      Version // in the last state of the session, see [history.differs]
	tracking tracking
	settled  bool // an equal look means an equal file
	own      bool // calls have made it, and nobody else has changed it since
}

// kid returns the entry of a name, made if there is none and that is wanted.
func (n *node) kid(name string, wanted bool) *node {
	i, ok := slices.BinarySearchFunc(n.kids, name,
		func(k *node, name string) int { return strings.Compare(k.name, name) })
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

// at returns the node of a path, nil if there is none and none is wanted.
func (n *node) at(path string, wanted bool) *node {
	for _, name := range parts(path) {
		if n = n.kid(name, wanted); n == nil {
			return nil
		}
	}
	return n
}

// path returns where n is.
func (n *node) path() string {
	if n.up == nil {
		return ""
	}
	return joined(n.up.path(), n.name)
}

// exists reports whether n was there.
func (n *node) exists() bool { return n.look != disk.Stat{} }

// gone notes that n and everything below it are absent.
func (n *node) gone() {
	n.look, n.sum, n.settled = disk.Stat{}, "", false
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		k.gone()
		return k.useless()
	})
}

// become notes that n is a directory, or is none: its earlier state is gone.
func (n *node) become(dir bool) {
	if n.exists() && n.look.Mode.IsDir() != dir {
		n.gone()
	}
}

// useless reports whether nothing is at n, or was in the last state, nor below it.
func (n *node) useless() bool { return !n.exists() && !n.was.Exists() && len(n.kids) == 0 }

// isDir stands for the sum of a directory that is kept.
const isDir Sum = "/"

// version returns n as it is kept, the zero Version if it is not.
func (n *node) version() Version {
	switch {
	case n.sum == "":
		return Version{}
	case !n.exists(): // a directory above all that is worked in
		return Version{Mode: fs.ModeDir | 0o755}
	case n.look.Mode.IsDir():
		return Version{Mode: keptMode(n.look.Mode)}
	}
	return Version{keptMode(n.look.Mode), n.sum}
}

// files adds to list the files below n that are kept.
func (n *node) files(list []*node) []*node {
	for _, k := range n.kids {
		if list = k.files(list); k.sum != "" && !k.version().dir() {
			list = append(list, k)
		}
	}
	return list
}

// keptMode returns the bits of a mode that are kept.
func keptMode(mode fs.FileMode) fs.FileMode {
	if mode&fs.ModeSymlink != 0 {
		return fs.ModeSymlink | 0o777
	}
	return mode & (fs.ModeDir | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// clean notes that n, and all below it, is in the last state as it is.
func (n *node) clean() {
	n.was = n.version()
	n.kids = slices.DeleteFunc(n.kids, func(k *node) bool {
		k.clean()
		return k.useless()
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

// joined returns a path below another one, "" for the top.
func joined(path, name string) string {
	const sep = string(filepath.Separator)
	if path == "" && sep != "/" {
		return name + sep
	}
	return strings.TrimSuffix(path, sep) + sep + name
}
