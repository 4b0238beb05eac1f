package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// A tree is what is known of the files that are worked in.
type tree struct {
	cfg     *Config
	top     *node                // nil before it is needed
	names   map[string]string    // files that edits have named, and from where on they are looked at
	rules   string               // what was seen of ignore files that are not below a directory that is worked in
	scanned bool                 // all was looked at once
	partial error                // why only what is named is kept
	own     map[string]disk.Stat // what commands of the session have made that is not covered
}

// newTree returns a tree of which nothing is known.
func newTree(cfg *Config) *tree { return &tree{cfg: cfg, names: map[string]string{}} }

// scan looks at all files.
func (t *tree) scan(s *scan) error {
	rules := t.rulesAbove()
	s.sorted, s.first = rules != t.rules && t.scanned, !t.scanned
	if s.first {
		s.store.know()
		s.until = s.at.Add(t.cfg.Limits.First)
	}
	roots := t.cfg.Workspace.Roots()
	for range 2 {
		for _, root := range roots {
			if !slices.ContainsFunc(roots, func(other string) bool {
				return other != root && disk.Inside(other, root)
			}) {
				s.root(t.top.at(root, true), root)
			}
		}
		if s.found.err != nil {
			return s.found.err
		}
		if s.sorted || !s.ruled.Load() {
			break
		}
		s.sorted = true
	}
	t.rules, t.scanned = rules, true
	return nil
}

// rulesAbove returns what there is to see of the ignore files that hold for what is
// worked in and do not lie there.
func (t *tree) rulesAbove() string {
	var b strings.Builder
	for _, root := range t.cfg.Workspace.Roots() {
		top := workspace.Top(root)
		for dir := root; ; dir = filepath.Dir(dir) {
			for _, name := range []string{".gitignore", ".git", ".git/info/exclude"} {
				switch info, err := os.Lstat(filepath.Join(dir, name)); {
				case err != nil, name == ".gitignore" && (dir == root || info.IsDir()):
				case info.IsDir():
					fmt.Fprintln(&b, dir, name)
				default:
					fmt.Fprintln(&b, dir, name, info.Size(), info.ModTime().UnixNano())
				}
			}
			if dir == top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return b.String()
}

// name has a file kept from now on, whatever rules say of it, and returns where it is:
// a link is kept as one.
func (t *tree) name(path string) string {
	path = filepath.Join(disk.Follow(filepath.Dir(path)), filepath.Base(path))
	t.keep(path)
	return path
}

// keep is name for a path that lies behind no link.
func (t *tree) keep(path string) {
	if _, ok := t.names[path]; ok {
		return
	}
	t.names[path], _ = t.base(path)
}

// base returns the directory that a path is reached from: its root, or, for a path outside of
// all roots, its nearest existing parent. Within reports whether the path has a root.
func (t *tree) base(path string) (base string, within bool) {
	for _, root := range t.cfg.Workspace.Roots() {
		if disk.Inside(root, path) && root != path && len(root) > len(base) {
			base = root
		}
	}
	if base != "" {
		return base, true
	}
	for base = filepath.Dir(path); base != filepath.Dir(base); base = filepath.Dir(base) {
		if info, err := os.Stat(base); err == nil && info.IsDir() {
			break
		}
	}
	return base, false
}

// resolve returns the directory that a path is reached from, and what the path is called from there,
// if it may be touched.
func (t *tree) resolve(path string) (base, rel string, err error) {
	if err := checkPath(path); err != nil {
		return "", "", err
	}
	base, within := t.base(path)
	if !within {
		place, err := t.cfg.Workspace.Place(path)
		if err != nil {
			return "", "", err
		}
		if place.Path() != path {
			return "", "", disk.ErrLink
		}
	}
	rel, err = filepath.Rel(base, path)
	return base, rel, err
}

// read returns what is at a path that may be touched, through no link, with its content.
func (t *tree) read(path string) (v Version, content []byte, err error) {
	base, rel, err := t.resolve(path)
	if err != nil {
		return Version{}, nil, err
	}
	d, err := disk.OpenDir(base)
	if err != nil {
		return Version{}, nil, err
	}
	defer d.Close()
	info, err := d.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, disk.ErrLink), errors.Is(err, syscall.ENOTDIR):
		return Version{}, nil, nil
	case err != nil:
		return Version{}, nil, err
	case info.IsDir():
		return Version{Mode: info.Mode()}, nil, nil
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := d.Readlink(rel)
		return Version{fs.ModeSymlink | 0o777, sumOf([]byte(to))}, []byte(to), err
	}
	if f, _, err := d.File(rel); err == nil {
		defer f.Close()
		if b, err := disk.Content(f, t.cfg.Limits.File); err == nil {
			return Version{info.Mode(), sumOf(b)}, b, nil
		}
	}
	return Version{info.Mode(), "?"}, nil, nil // something that is not known
}
