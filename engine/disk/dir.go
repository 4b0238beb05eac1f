package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Reasons why a file can't be used, beside the errors of [io/fs].
var (
	ErrLink      = errors.New("is a link, or lies behind one")
	ErrDirectory = errors.New("is a directory")
	ErrIrregular = errors.New("is not a regular file")
	ErrKernel    = errors.New("is made up by the kernel and is not a file on a disk")
)

// longest is the time limit for reading a file whose reads may block.
const longest = 10 * time.Second

// A Dir is an open directory. It is safe for concurrent use. Names of files
// below it are relative, clean, and in the system's spelling; "." is the
// directory itself. Errors name files by their whole paths.
type Dir struct {
	path  string
	root  *os.Root
	quick quick
}

// OpenDir opens the directory at path, which may be a link.
func OpenDir(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, root: root}
	d.quick.open(root)
	return d, nil
}

// Close closes the directory. Files and directories opened below it stay open.
func (d *Dir) Close() error {
	d.quick.close()
	return d.root.Close()
}

// Path returns the path that the directory was opened at.
func (d *Dir) Path() string { return d.path }

// Gone reports whether the directory was removed.
func (d *Dir) Gone() bool {
	info, err := d.root.Stat(".")
	return err != nil || LinkCount(info) == 0
}

// Is reports whether info, which must come from package os, describes the directory.
func (d *Dir) Is(info fs.FileInfo) bool {
	is, err := d.root.Stat(".")
	return err == nil && os.SameFile(info, is)
}

// Lstat describes the file called name, which may be a link. It is not for
// [os.SameFile].
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	info, err := d.lstat(name)
	return info, d.blame(err, "stat", name)
}

func (d *Dir) lstatSlow(name string) (fs.FileInfo, error) {
	at, err := d.sub(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer at.Close()
	return at.Lstat(filepath.Base(name))
}

// Readlink returns where the link called name leads.
func (d *Dir) Readlink(name string) (string, error) {
	at, err := d.sub(filepath.Dir(name))
	if err != nil {
		return "", d.blame(err, "readlink", name)
	}
	defer at.Close()
	to, err := at.Readlink(filepath.Base(name))
	return to, d.blame(err, "readlink", name)
}

// File opens the regular file called name for reading. It never waits for the
// other end of a pipe and has no effect on a device.
func (d *Dir) File(name string) (*os.File, fs.FileInfo, error) {
	f, info, err := d.file(name)
	if err != nil {
		return nil, nil, d.blame(err, "open", name)
	}
	// Some files claim to be regular, but are read like a pipe; other regular files ignore the
	// deadline.
	f.SetReadDeadline(time.Now().Add(longest))
	return f, info, nil
}

func (d *Dir) fileSlow(name string) (*os.File, fs.FileInfo, error) {
	at, err := d.sub(filepath.Dir(name))
	if err != nil {
		return nil, nil, err
	}
	defer at.Close()
	return openRegular(at, filepath.Base(name))
}

// openRegular opens the regular file called name in at.
func openRegular(at *os.Root, name string) (*os.File, fs.FileInfo, error) {
	was, err := at.Lstat(name) // since opening a device may have an effect
	if err == nil {
		err = Regular(was)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := at.OpenFile(name, os.O_RDONLY|careful, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(was, info):
		err = ErrLink
	default:
		err = rejectSyntheticFile(f)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Regular returns an error if the file that info describes is not a regular file.
func Regular(info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrLink
	case info.IsDir():
		return ErrDirectory
	case !info.Mode().IsRegular():
		return ErrIrregular
	}
	return nil
}

// List returns the entries of the directory called name, unsorted, perhaps some even beside an
// error. Their Info must not be used, since it follows the path.
func (d *Dir) List(name string) ([]fs.DirEntry, error) {
	entries, err := d.list(name)
	return entries, d.blame(err, "open", name)
}

func (d *Dir) listSlow(name string) ([]fs.DirEntry, error) {
	at, err := d.sub(name)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	f, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := rejectSyntheticFile(f); err != nil {
		return nil, err
	}
	return f.ReadDir(-1)
}

// Sub opens the directory called name, so that files in it can be made,
// renamed and removed.
func (d *Dir) Sub(name string) (*os.Root, error) {
	at, err := d.sub(name)
	return at, d.blame(err, "open", name)
}

func (d *Dir) sub(name string) (*os.Root, error) {
	return d.walk(name, func(at *os.Root, part string) (*os.Root, error) {
		defer at.Close()
		return step(at, part)
	})
}

// walk opens the directory called name: step opens each directory on the way in the one above it.
func (d *Dir) walk(name string, step func(at *os.Root, part string) (*os.Root, error)) (*os.Root, error) {
	at, err := d.root.OpenRoot(".")
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if err == nil && part != "." {
			at, err = step(at, part)
		}
	}
	return at, err
}

// Make is Sub for a directory whose last elements may be missing: it creates them. The function
// end closes the directory; with undo it removes the created directories that are still empty.
func (d *Dir) Make(name string) (at *os.Root, end func(undo bool), err error) {
	type maker struct {
		at   *os.Root
		part string // the created element, or ""
	}
	var way []maker
	end = func(undo bool) {
		if at != nil {
			at.Close()
		}
		for _, m := range slices.Backward(way) {
			if undo && m.part != "" {
				m.at.Remove(m.part)
			}
			m.at.Close()
		}
	}
	at, err = d.walk(name, func(at *os.Root, part string) (*os.Root, error) {
		made := ""
		next, err := step(at, part)
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(part, 0o777); err == nil { // less the umask
				made = part
			}
			if err == nil || errors.Is(err, fs.ErrExist) {
				next, err = step(at, part)
			}
		}
		way = append(way, maker{at, made})
		return next, err
	})
	if err != nil {
		end(true)
		return nil, nil, d.blame(err, "mkdir", name)
	}
	return at, end, nil
}

// step opens the directory called part in at.
func step(at *os.Root, part string) (*os.Root, error) {
	was, err := at.Lstat(part)
	switch {
	case err != nil:
		return nil, err
	case was.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	case !was.IsDir():
		return nil, syscall.ENOTDIR
	}
	next, err := at.OpenRoot(part + string(filepath.Separator) + ".") // which does not block on a pipe
	if err != nil {
		return nil, err
	}
	is, err := next.Stat(".")
	if err == nil && !os.SameFile(was, is) {
		err = ErrLink // the element became a link meanwhile
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// blame wraps err, if not nil, with the full path of name.
func (d *Dir) blame(err error, op, name string) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: filepath.Join(d.path, name), Err: Cause(err)}
}
