package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// tempName is the prefix of the names of temporary directories for commands.
const tempName = "gemline-commands-"

// A temp is a temporary directory for commands. Its Kernel holds a lock on it, which ends
// with the process: if another process gets the lock, the directory is unused.
type temp struct {
	path string
	lock *os.File // nil if the file system has no locks
}

// temporary returns the temporary directory for commands.
func (k *Kernel) temporary() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.temp != nil {
		if _, err := os.Lstat(k.temp.path); err == nil {
			return k.temp.path, nil
		} // the directory was deleted
		k.temp.close()
		k.temp = nil
	}
	places := k.options.Temp
	if len(places) == 0 {
		places = []string{os.TempDir(), "/tmp"}
	}
	if k.options.Cache != "" {
		places = append(places[:len(places):len(places)], k.options.Cache)
	}
	var all []error
	for _, place := range places {
		err := error(nil)
		if place == k.options.Cache {
			err = os.MkdirAll(place, 0o700)
		}
		if err == nil {
			k.temp, err = newTemp(place)
		}
		if err == nil {
			path := k.temp.path
			k.sweep.Go(func() { sweep(filepath.Dir(path)) }) // in the background, as it may be slow
			return path, nil
		}
		all = append(all, err)
	}
	return "", fmt.Errorf("a temporary directory for commands: %w", all[0])
}

// newTemp makes a temp in base.
func newTemp(base string) (*temp, error) {
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, err
	}
	for range 100 { // another process may sweep a directory before it is locked
		var path string
		if path, err = os.MkdirTemp(base, tempName); err != nil {
			return nil, err
		}
		var t *temp
		switch t, err = lockTemp(path); {
		case err == nil:
			return t, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist):
			return &temp{path: path}, nil
		}
	}
	return nil, err
}

// lockTemp returns the directory at path with a lock on it.
func lockTemp(path string) (*temp, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = fs.ErrNotExist
		there, err1 := os.Lstat(path)
		open, err2 := f.Stat()
		if err1 == nil && err2 == nil && os.SameFile(there, open) {
			return &temp{path, f}, nil
		}
	}
	f.Close()
	return nil, err
}

// close releases t without removing it.
func (t *temp) close() {
	if t.lock != nil {
		t.lock.Close()
	}
}

// remove removes t and releases it.
func (t *temp) remove() error {
	defer t.close()
	if os.RemoveAll(t.path) == nil {
		return nil
	}
	os.Chmod(t.path, 0o700)                           // commands may leave closed directories, as Go's modules are;
	if root, err := os.OpenRoot(t.path); err == nil { // the removal reports a failure
		fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, _ error) error {
			if e != nil && e.IsDir() {
				root.Chmod(path, 0o700)
			}
			return nil
		})
		root.Close()
	}
	return os.RemoveAll(t.path)
}

// sweep removes the temporary directories in base that killed processes of this user have left.
func sweep(base string) {
	entries, _ := os.ReadDir(base)
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), tempName)
		info, err := e.Info()
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" || err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !mine(info) {
			continue
		}
		if t, err := lockTemp(filepath.Join(base, e.Name())); err == nil {
			t.remove()
		}
	}
}

// mine reports whether this user owns a file.
func mine(i os.FileInfo) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
