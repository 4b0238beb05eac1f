package disk

import (
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

// lockPoll is how long to wait between attempts at a lock.
const lockPoll = 10 * time.Millisecond

// Lock waits until no other process holds the lock of the file at path, which need
// not be there, and keeps others from it until unlock is called. It fails when ctx
// ends. The lock is on the directory, which is made if there is none, so that nothing
// is left lying about, or on a file beside it where that can't be had.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Dir(path), flock.SetFlag(os.O_RDONLY))
	if _, err := lock.TryLock(); err != nil {
		lock.Close()
		lock = flock.New(path+".lock", flock.SetPermissions(0o600))
	}
	if ok, err := lock.TryLockContext(ctx, lockPoll); !ok {
		lock.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("%s is held by another program: %w", path, err)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { lock.Close() }, nil
}

// Replace makes b the content of the file at path. A symbolic link stays one, and
// the file it leads to is replaced. An existing file keeps its mode and, as far as the user
// may, its owner; a file without permission to write is not replaced. A new file gets mode.
//
// The caller holds a lock on the file, such as [Lock]: temporary files of killed processes
// are removed.
func Replace(path string, b []byte, mode fs.FileMode) error {
	path = ResolveLinks(path)
	failed := func(err error) error { // with the file's own path, not the temporary one
		return &fs.PathError{Op: "write", Path: path, Err: Cause(err)}
	}
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return failed(err)
	default:
		if err := writable(path, old); err != nil {
			return failed(err)
		}
	}
	dir, prefix := filepath.Dir(path), ".gemline-"+filepath.Base(path)+"-"
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	f := &File{old: old}
	if _, err := f.create(filepath.Join(dir, prefix), 0o600, func(string) {}); err != nil {
		return failed(err)
	}
	defer f.Discard()
	if _, err = f.Write(b); err == nil && old == nil {
		err = f.file.Chmod(mode)
	}
	if err == nil {
		err = f.Commit(path)
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

// Change replaces the file at path by the bytes that next returns, and holds its [Lock] in the
// meantime. If next returns nil, the file stays as it is.
func Change(ctx context.Context, path string, mode fs.FileMode, next func() ([]byte, error)) error {
	unlock, err := Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	b, err := next()
	if err != nil || b == nil {
		return err
	}
	return Replace(path, b, mode)
}

// Restrict takes from all but its owner their rights to the file at path, if
// there is one: another program may have made it for everybody.
func Restrict(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode()&0o077 != 0 {
		os.Chmod(path, info.Mode().Perm()&^0o077) // only the owner can
	}
}

// writable refuses a file that is meant to stay as it is, which a rename would
// not.
func writable(path string, info fs.FileInfo) error {
	if err := Regular(info); err != nil {
		return err
	}
	if info.Mode()&0o222 == 0 { // root may write it all the same
		return errors.New("it is read-only (chmod u+w changes that)")
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// ReplaceTree has write create a directory, a file or a link at a path beside at, and
// replaces at by it. If that fails, the old content stays. On Linux at has the old or the new
// content at any time, even if the process is killed.
func ReplaceTree(at string, write func(fresh string) error) error {
	dir := filepath.Dir(at)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, ".gemline-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	fresh, old := filepath.Join(temp, "new"), filepath.Join(temp, "old")
	if err := write(fresh); err != nil {
		return err
	}
	if exchange(fresh, at) == nil {
		return nil
	}
	err = os.Rename(at, old) // there is nothing, or a file system that can't exchange
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	had := err == nil
	if err := os.Rename(fresh, at); err != nil {
		if had {
			err = errors.Join(err, os.Rename(old, at))
		}
		return err
	}
	return nil
}
