package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
)

// dirs are the open directories of a Workspace. An open directory stays the same even if its
// path is replaced. It is safe for concurrent use.
type dirs struct {
	temp string // real path, or ""
	file string // real path, or ""

	mu       sync.RWMutex
	roots    []*disk.Dir // opened at their real paths
	tempNow  *disk.Dir   // at temp; nil if it did not exist at the last lookup
	fileDir  *disk.Dir   // the directory of file; nil until needed
	readable []*disk.Dir // further readable directories, opened at their real paths; with duplicates
}

// add makes dir another root, unless it is one already.
func (ds *dirs) add(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: ErrNoDirectory}
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if slices.ContainsFunc(ds.roots, func(d *disk.Dir) bool { return d.Path() == real }) {
		return nil
	}
	d, err := disk.OpenDir(real)
	if err == nil {
		ds.roots = append(slices.Clip(ds.roots), d)
	}
	return err
}

// paths returns the real paths of the roots, the working directory first.
func (ds *dirs) paths() []string {
	dirs := ds.list()
	paths := make([]string, len(dirs))
	for i, d := range dirs {
		paths[i] = d.Path()
	}
	return paths
}

func (ds *dirs) list() []*disk.Dir {
	ds.mu.RLock()
	defer ds.mu.RUnlock()
	return ds.roots
}

// rootOf returns the innermost root that holds path, and the path relative to the root. It
// skips a root if may, if not nil, rejects the relative path.
func (ds *dirs) rootOf(path string, may func(rel string) bool) (root *disk.Dir, rel string) {
	for _, d := range ds.list() {
		if p, in := below(d.Path(), path); in &&
			(root == nil || len(d.Path()) > len(root.Path())) && (may == nil || may(p)) {
			root, rel = d, p
		}
	}
	return root, rel
}

// dirOf is rootOf, but counts the temporary directory as well.
func (ds *dirs) dirOf(path string) (dir *disk.Dir, rel string) {
	dir, rel = ds.rootOf(path, nil)
	if ds.temp == "" || dir != nil && len(dir.Path()) > len(ds.temp) {
		return dir, rel
	}
	if p, in := below(ds.temp, path); in {
		if temp := ds.tempDir(); temp != nil {
			return temp, p
		}
	}
	return dir, rel
}

// dirOfFile returns the directory of the file outside, nil if it does not exist.
func (ds *dirs) dirOfFile() *disk.Dir {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.fileDir == nil || ds.fileDir.Gone() {
		ds.fileDir, _ = disk.OpenDir(filepath.Dir(ds.file))
	}
	return ds.fileDir
}

// tempDir returns the temporary directory, nil if it does not exist. It may have been
// created, or replaced, since the last call.
func (ds *dirs) tempDir() *disk.Dir {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.tempNow == nil || ds.tempNow.Gone() {
		ds.tempNow = nil
		// Other programs may create it, so a link is not followed.
		info, err := os.Lstat(ds.temp)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil
		}
		d, err := disk.OpenDir(ds.temp)
		if err != nil {
			return nil
		}
		if !d.Is(info) {
			d.Close()
			return nil
		}
		ds.tempNow = d
	}
	return ds.tempNow
}

// makeTemp is tempDir, but creates a missing directory.
func (ds *dirs) makeTemp() (*disk.Dir, error) {
	if err := os.MkdirAll(ds.temp, 0o700); err != nil {
		return nil, err
	}
	if d := ds.tempDir(); d != nil {
		return d, nil
	}
	return nil, &fs.PathError{Op: "open", Path: ds.temp, Err: fs.ErrNotExist}
}

// lend lets the tools read files below dir, which is no root, until release is called. It
// permits no writes, and links out of dir are not followed.
func (ds *dirs) lend(dir string) (release func(), err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	d, err := disk.OpenDir(real)
	if err != nil {
		return nil, err
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.readable = append(slices.Clip(ds.readable), d)
	return func() {
		ds.mu.Lock()
		defer ds.mu.Unlock()
		ds.readable = slices.DeleteFunc(slices.Clone(ds.readable), func(o *disk.Dir) bool { return o == d })
		d.Close()
	}, nil
}

// lentAt returns the lent directory that holds a real path, nil if none does.
func (ds *dirs) lentAt(real string) (dir *disk.Dir, rel string) {
	ds.mu.RLock()
	defer ds.mu.RUnlock()
	for _, d := range ds.readable {
		if rel, in := below(d.Path(), real); in && !withheldIn(rel) {
			return d, rel
		}
	}
	return nil, ""
}

var errLoop = errors.New("too many levels of symbolic links")

// follow resolves all symbolic links in the absolute path. A missing part stays as named, so
// that a link to a missing file leads to that file. It reads directories through their open
// handles, even if their paths were replaced.
func (ds *dirs) follow(path string) (string, error) {
	path = filepath.Clean(path)
	volume := filepath.VolumeName(path)
	done, rest := volume+string(filepath.Separator), path[len(volume):]
	if dir, rel := ds.dirOf(path); dir != nil {
		info, err := dir.Lstat(rel)
		if err == nil && info.Mode()&fs.ModeSymlink == 0 || err != nil && missing(err) {
			return path, nil // the usual case: no links
		}
		done, rest = filepath.Clean(path[:len(path)-len(rel)]), rel
		if rel == "." {
			return "", err
		}
	}
	todo := strings.Split(rest, string(filepath.Separator))
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..": // of a link's target; done has no links
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, err := ds.readlink(next)
		if err != nil {
			return "", err
		}
		if target == "" {
			done = next
			continue
		}
		if links++; links > 100 {
			return "", &fs.PathError{Op: "open", Path: path, Err: errLoop}
		}
		if filepath.IsAbs(target) {
			v := filepath.VolumeName(target)
			done = v + string(filepath.Separator)
			target = target[len(v):]
		}
		todo = append(strings.FieldsFunc(target, isSeparator), todo...)
	}
	return done, nil
}

// readlink returns the target of the link at path, "" if path is no link. Only the last
// element of path may be a link.
func (ds *dirs) readlink(path string) (string, error) {
	lstat, read, name := os.Lstat, os.Readlink, path
	if dir, rel := ds.dirOf(path); dir != nil {
		lstat, read, name = dir.Lstat, dir.Readlink, rel
	}
	info, err := lstat(name)
	switch {
	case err != nil && missing(err):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	target, err := read(name)
	if err != nil {
		return "", errors.Join(disk.ErrLink, err) // it is a link no more
	}
	return target, nil
}

// below returns path relative to dir, if path is in dir.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	prefix := dir
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	if caseless {
		if len(path) > len(prefix) && strings.EqualFold(path[:len(prefix)], prefix) {
			return path[len(prefix):], true
		}
		return "", false
	}
	return strings.CutPrefix(path, prefix)
}
