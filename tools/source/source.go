// Package source fetches packages of files, such as extensions and skills: from repositories and
// releases with a [Hub], from archives with [Unpack], and from folders with [Copy].
//
// # Limits of packages
//
// A package from any source is files and directories, within limits, and links that stay
// inside. Devices, absolute names, and names or links that lead out are an error, and the
// package is rejected.
//
// # Git never prompts
//
// Git runs without a terminal, hooks or prompts: if a repository requires a log-in, the
// error says so.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// The limits of a package.
const (
	mostFiles = 20_000
	mostBytes = 500 << 20
)

// A tally counts the files and bytes of a package.
type tally struct {
	files int
	bytes int64
}

// file counts one more file or directory.
func (t *tally) file() error {
	if t.files++; t.files > mostFiles {
		return fmt.Errorf("it has more than %s files", text.Number(mostFiles))
	}
	return nil
}

// copy copies a file, within the remaining limit.
func (t *tally) copy(w io.Writer, r io.Reader) error {
	n, err := io.Copy(w, io.LimitReader(r, mostBytes-t.bytes+1))
	if t.bytes += n; err == nil && t.bytes > mostBytes {
		err = fmt.Errorf("it has more than %d MiB", mostBytes>>20)
	}
	return err
}

// within returns an error if a name of a package leads out of it.
func within(name string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("it has a file named %.80q, which leads out of it", name)
	}
	return nil
}

// mode returns the mode of a stored file: executable or not.
func mode(m fs.FileMode) fs.FileMode {
	if m&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// put creates a regular file in a package.
func (t *tally) put(to *os.Root, name string, m fs.FileMode, r io.Reader) error {
	if err := t.file(); err != nil {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode(m))
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("it has two files %.80q", name)
	} else if err != nil {
		return err
	}
	return errors.Join(t.copy(f, r), f.Close())
}

// link makes a link in a package.
func (t *tally) link(to *os.Root, name, target string) error {
	if err := t.file(); err != nil {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return to.Symlink(target, name)
}

// Copy copies the package in a folder to another folder, which must not exist yet. It omits
// git's directory.
func Copy(ctx context.Context, from, to string) error {
	top, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer into.Close()
	t := &tally{}
	err = fs.WalkDir(top.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == ".":
			return nil
		case d.Name() == ".git":
			return skip(d)
		case d.IsDir():
			return errors.Join(t.file(), into.MkdirAll(name, 0o755))
		case d.Type()&fs.ModeSymlink != 0:
			target, err := top.Readlink(name)
			return errors.Join(err, t.link(into, name, filepath.ToSlash(target)))
		case !d.Type().IsRegular():
			return fmt.Errorf("%.80q is neither a file nor a directory", name)
		}
		f, err := top.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err == nil {
			err = disk.Regular(info)
		}
		if err != nil {
			return err
		}
		return t.put(into, name, info.Mode(), f)
	})
	if err = cmp.Or(err, verify(to)); err != nil {
		os.RemoveAll(to)
		return fmt.Errorf("%s can't be copied: %w", text.PrintableLine(from), err)
	}
	return nil
}

// Check returns an error if a folder is no valid package.
func Check(dir string) error { return verify(dir) }

// verify returns an error if a stored package holds a link that leads out, a special file,
// or too much.
func verify(dir string) error {
	top, t := disk.ResolveLinks(dir), &tally{}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case name == ".git" && d.IsDir():
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			if !disk.Inside(top, disk.ResolveLinks(path)) {
				target, _ := os.Readlink(path)
				return fmt.Errorf("it has a link %.80q to %.80q, which leads out of it", filepath.ToSlash(name), target)
			}
		case !d.IsDir() && !d.Type().IsRegular():
			return fmt.Errorf("%.80q is neither a file nor a directory", filepath.ToSlash(name))
		case !d.IsDir():
			info, err := d.Info()
			if err != nil {
				return err
			}
			if t.bytes += info.Size(); t.bytes > mostBytes {
				return fmt.Errorf("it has more than %d MiB", mostBytes>>20)
			}
		}
		return t.file()
	})
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
