package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// rulesAbove returns the states of the ignore files outside of the roots that apply in them.
func (h *history) rulesAbove() string {
	var b strings.Builder
	for _, root := range h.cfg.Workspace.Roots() {
		top := workspace.RepositoryRoot(root)
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

// name makes later scans store a file, even if it is ignored, and returns its path. For a
// link, the link is stored, not its target.
func (h *history) name(path string) string {
	path = disk.ResolveParent(path)
	h.names[path] = true
	return path
}

// base returns the directory from which a path is opened: its root, or, outside of all
// roots, its nearest existing parent. within reports whether the path has a root.
func (h *history) base(path string) (base string, within bool) {
	for _, root := range h.cfg.Workspace.Roots() {
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

// resolve returns the base of a path, and the path relative to it, if the path may be
// touched.
func (h *history) resolve(path string) (base, rel string, err error) {
	if err := checkPath(path); err != nil {
		return "", "", err
	}
	base, within := h.base(path)
	if !within {
		if place, err := h.cfg.Workspace.Locate(path); err != nil || place.Path() != path {
			return "", "", cmp.Or(err, disk.ErrLink)
		}
	}
	rel, err = filepath.Rel(base, path)
	return base, rel, err
}

// read returns the version and content of the file at a path that may be touched. It follows
// no link.
func (h *history) read(path string) (v Version, content []byte, err error) {
	base, rel, err := h.resolve(path)
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
	if b, err := readIn(d, rel, h.cfg.MostBytes); err == nil {
		return Version{info.Mode(), sumOf(b)}, b, nil
	}
	return Version{info.Mode(), "?"}, nil, nil // an unknown kind of file
}
