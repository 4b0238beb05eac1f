package settings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Save lets edit change the text of a file of settings, and writes what it
// returns unless that is the same. A file that is not there is no text. Other
// programs that save the same file wait meanwhile, and whoever reads it finds
// the old text or the new one as a whole.
//
// A file that does not hold an object is left as it is, with a [FileError], and
// so is one that edit makes into something else. Edit must not write into what
// it is given.
func Save(ctx context.Context, path string, edit func(text []byte) ([]byte, error)) error {
	return save(ctx, path, privateFile, edit)
}

// The modes of new files: the user's, and those for everybody on the machine.
const (
	privateFile fs.FileMode = 0o600
	publicFile  fs.FileMode = 0o644
)

// save is Save with the mode of a new file. New directories let in whoever may
// read it.
func save(ctx context.Context, path string, mode fs.FileMode, edit func(text []byte) ([]byte, error)) error {
	if path == "" {
		return errors.New("no home directory: there is no place for settings")
	}
	target, err := destination(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, mode|mode&0o444>>2); err != nil {
		return fmt.Errorf("make the directory of the settings: %w", err)
	}
	unlock, err := hold(ctx, target)
	if err != nil {
		return err
	}
	defer unlock()
	before, err := readFile(target)
	if err != nil {
		return err
	}
	if _, err := parseObject(target, before); err != nil {
		return err
	}
	after, err := edit(before)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if len(after) > maxFile {
		return &FileError{Path: target, Message: "would be larger than 4 MiB"}
	}
	if _, err := parseObject(target, after); err != nil {
		return fmt.Errorf("the change is not made: %w", err)
	}
	return renew(target, mode, after)
}

// destination returns the path of the file that path is, or leads to by
// symbolic links. It need not exist.
func destination(path string) (string, error) {
	const most = 40 // links, as the system has it
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				return "", &FileError{Path: path, Message: "is not a regular file"}
			}
			return realPath(path), nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(realPath(filepath.Dir(path)), to)
		}
		path = to
	}
	return "", &FileError{Path: path, Message: "is a link that leads in a circle"}
}

// saveWait is how long a queue of programs that save may be, with a slow disk.
const saveWait = 30 * time.Second

// hold waits until no other program saves a file, and keeps others from it
// until unlock is called. The lock is on the directory, so that nothing is left
// lying about, or on a file beside it where that can't be had.
func hold(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, saveWait)
	defer cancel()
	lock := flock.New(filepath.Dir(path), flock.SetFlag(os.O_RDONLY))
	if _, err := lock.TryLock(); err != nil {
		lock.Close()
		lock = flock.New(path+".lock", flock.SetPermissions(0o600))
	}
	ok, err := lock.TryLockContext(ctx, lockPoll)
	switch {
	case ok:
		return func() { lock.Close() }, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%s is being saved by another program, for longer than %v", path, saveWait)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, ctx.Err()
}

// renew replaces a file as a whole, with the mode that it had. A new one gets
// the given mode.
func renew(path string, mode fs.FileMode, b []byte) error {
	was, err := os.Stat(path)
	switch {
	case err == nil:
		mode = was.Mode().Perm()
		if err := mayWrite(path, mode); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir, prefix := filepath.Dir(path), ".gemline-"+filepath.Base(path)+"-"
	sweep(dir, prefix)
	tmp, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return unwritten(path, err)
	}
	defer os.Remove(tmp.Name()) // of no effect once it is renamed
	_, err = tmp.Write(b)
	if was != nil {
		keepOwner(tmp, was)
	}
	if err = cmp.Or(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return unwritten(path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil { // the new name, too; not every system can
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// sweep removes what a program that was killed left behind: whoever holds the
// lock is the only one that writes.
func sweep(dir, prefix string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// unwritten says that the file at path can't be written, without the name of
// the one that takes its place.
func unwritten(path string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// mayWrite refuses a file that is meant to stay as it is, which a rename would
// not.
func mayWrite(path string, mode fs.FileMode) error {
	if mode&0o222 == 0 {
		return fmt.Errorf("write %s: it is read-only (chmod u+w changes that)", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
