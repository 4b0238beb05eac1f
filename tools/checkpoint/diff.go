package checkpoint

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A Version is a file, a link or a directory as it was. The zero Version is one
// that was not there. Of a directory only the mode counts.
type Version struct {
	Mode fs.FileMode
	Sum  Sum
}

// There reports whether something was there.
func (v Version) There() bool { return v != Version{} }

// dir reports whether it was a directory.
func (v Version) dir() bool { return v.Mode.IsDir() }

// A Change is what became of one path.
type Change struct {
	Path          string
	Before, After Version
}

// A kept path is one as it was in a state, with what was below it.
type kept struct {
	version Version
	kids    map[string]*kept
}

// set notes what is at a path. What was below a path that is gone is gone by changes of its own.
func (k *kept) set(path string, v Version) {
	for _, name := range parts(path) {
		if k.kids == nil {
			k.kids = map[string]*kept{}
		}
		if k.kids[name] == nil {
			k.kids[name] = &kept{}
		}
		k = k.kids[name]
	}
	k.version = v
}

// kid returns what was below a path, nil if nothing was.
func (k *kept) kid(name string) *kept {
	if k == nil {
		return nil
	}
	return k.kids[name]
}

// gone adds to list that what was below a path is not there, but for those of some names.
func (k *kept) gone(path string, there func(name string) bool, list []Change) []Change {
	if k == nil {
		return list
	}
	for _, name := range slices.Sorted(maps.Keys(k.kids)) {
		if kid := k.kids[name]; !there(name) {
			at := joined(path, name)
			if kid.version.There() {
				list = append(list, Change{at, kid.version, Version{}})
			}
			list = kid.gone(at, func(string) bool { return false }, list)
		}
	}
	return list
}

// diff adds to list what of n, and of what is below it, differs from what was kept. Where no
// change was noted since, nothing is looked at unless all is to be.
func (n *node) diff(was *kept, path string, all bool, list []Change) []Change {
	if !n.dirty.Load() && !all {
		return list
	}
	at := len(list)
	list = append(list, Change{}) // a directory comes before what is in it
	if dir := !n.there() || n.look.Mode.IsDir(); dir {
		some := false
		for _, k := range n.kids {
			list = k.diff(was.kid(k.name), joined(path, k.name), all, list)
			some = some || k.sum != ""
		}
		list = was.gone(path, func(name string) bool { return n.kid(name, false) != nil }, list)
		n.sum = ""
		if n.up == nil || some || n.there() && n.cover != watched {
			n.sum = isDir
		}
	} else {
		list = was.gone(path, func(string) bool { return false }, list)
	}
	c := Change{Path: path, After: n.version()}
	if was != nil {
		c.Before = was.version
	}
	if n.up == nil || c.Before == c.After {
		return slices.Delete(list, at, at+1)
	}
	list[at] = c
	return list
}

// order sorts changes by their paths, a directory before what is in it.
func order(a, b Change) int {
	return slices.Compare(strings.Split(filepath.ToSlash(a.Path), "/"), strings.Split(filepath.ToSlash(b.Path), "/"))
}
