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

// lockPoll is the time between attempts to get a lock.
const lockPoll = 10 * time.Millisecond

// Lock locks the file at path, which need not exist, against other processes until unlock is
// called. It waits for the lock until ctx ends. The lock is on the directory, which is created if
// necessary, so that no lock file remains; if a directory can't be locked, on a file beside the
// file.
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

// Replace sets the content of the file at path to b. A symbolic link stays, and its target is
// replaced. An existing file keeps its mode and, if the user may set it, its owner; a read-only
// file is not replaced. A new file gets mode.
//
// The caller holds a lock on the file, such as [Lock]: temporary files of killed processes
// are removed.
func Replace(path string, b []byte, mode fs.FileMode) error {
	path = ResolveLinks(path)
	failed := func(err error) error { // with the file's own path, not the temporary path
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

// Restrict removes the rights of all users but the owner to the file at path, if it exists:
// another program may have created it for all users.
func Restrict(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode()&0o077 != 0 {
		os.Chmod(path, info.Mode().Perm()&^0o077) // only the owner can
	}
}

// writable returns an error for a read-only file, which a rename would replace.
func writable(path string, info fs.FileInfo) error {
	if err := Regular(info); err != nil {
		return err
	}
	if info.Mode()&0o222 == 0 { // root may write to any file
		return errors.New("it is read-only (chmod u+w changes that)")
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// ReplaceTree has write create a directory, a file or a link at a path beside at, and replaces at
// by it. If that fails, the old content stays. On Linux the replacement is atomic, even if the
// process is killed.
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
	err = os.Rename(at, old) // nothing to replace, or exchange is not supported
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
