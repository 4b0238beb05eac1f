package checkpoint

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gemline/tools/checkpoint/shadow"
)

// A Version is a file, a link or a directory as it was. The zero Version is one
// that was not there. Of a directory only the mode counts.
type Version struct {
	Mode fs.FileMode
	Sum  shadow.Sum
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

// mostChanges is how many paths are compared, and deepest how far down.
const (
	mostChanges = 1_000_000
	deepest     = 1000
)

var errManyChanges = errors.New("there are too many changes to be listed")

// A comparison finds what two trees do not have in common.
type comparison struct {
	repo *shadow.Repo
	list []Change
}

// compare returns what differs between two trees, of which one may be none.
func compare(repo *shadow.Repo, before, after shadow.Sum) ([]Change, error) {
	c := &comparison{repo: repo}
	err := c.trees("", before, after, 0)
	return c.list, err
}

func (c *comparison) trees(path string, before, after shadow.Sum, depth int) error {
	if before == after {
		return nil
	}
	if depth > deepest || len(c.list) > mostChanges {
		return errManyChanges
	}
	was, err := c.entries(before)
	if err != nil {
		return err
	}
	is, err := c.entries(after)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(was)+len(is))
	for name := range was {
		names = append(names, name)
	}
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if was[name] != is[name] {
			if err := c.entry(joined(path, name), was[name], is[name], depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *comparison) entries(tree shadow.Sum) (map[string]Version, error) {
	all := map[string]Version{}
	if tree == "" {
		return all, nil
	}
	entries, err := c.repo.Tree(tree)
	for _, e := range entries {
		all[e.Name] = Version{e.Mode, e.Sum}
	}
	return all, err
}

func (c *comparison) entry(path string, was, is Version, depth int) error {
	change := Change{path, was, is}
	var from, to shadow.Sum
	if was.dir() {
		from, change.Before.Sum = was.Sum, ""
	}
	if is.dir() {
		to, change.After.Sum = is.Sum, ""
	}
	if change.Before != change.After {
		c.list = append(c.list, change)
	}
	if from == "" && to == "" {
		return nil
	}
	return c.trees(path, from, to, depth+1)
}

// order sorts changes by their paths, a directory before what is in it.
func order(a, b Change) int {
	return slices.Compare(strings.Split(filepath.ToSlash(a.Path), "/"), strings.Split(filepath.ToSlash(b.Path), "/"))
}
