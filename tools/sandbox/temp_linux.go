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

// What commands see as the temporary directory is tempTree in a directory of
// one Kernel's. Beside it stands tempLock, which the Kernel holds a lock on: the
// lock ends with its process, however that ends, so whoever gets it knows that
// nobody needs the directory any more.
const (
	tempName = "gemline-"
	tempTree = "tmp"
	tempLock = ".gemline-lock"
)

// A temp is such a directory.
type temp struct {
	base *os.Root // it is in this
	name string
	dir  *os.Root // itself
	path string   // of what commands see
	lock *os.File // nil if the file system knows no locks
}

// temporary returns the directory that commands see as the temporary one.
func (k *Kernel) temporary() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.temp != nil {
		if _, err := os.Lstat(k.temp.path); err == nil {
			return k.temp.path, nil
		} // somebody has tidied up
		k.temp.close()
		k.temp = nil
	}
	places := k.options.Temp
	if len(places) == 0 {
		places = []string{os.TempDir(), "/tmp"}
	}
	var all []error
	for _, place := range places {
		t, err := newTemp(place)
		if err == nil {
			return k.use(t), nil
		}
		all = append(all, err)
	}
	if k.options.Cache != "" {
		err := os.MkdirAll(k.options.Cache, 0o700)
		if err == nil {
			var t *temp
			if t, err = newTemp(k.options.Cache); err == nil {
				return k.use(t), nil
			}
		}
		all = append(all, err)
	}
	return "", fmt.Errorf("a temporary directory for commands: %w", all[0])
}

// use makes t the temporary directory, and has what others left where it is
// removed, which may take a while.
func (k *Kernel) use(t *temp) string {
	k.temp = t
	k.sweep.Go(func() { sweep(filepath.Dir(filepath.Dir(t.path))) })
	return t.path
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
		t := &temp{name: filepath.Base(path), path: filepath.Join(path, tempTree)}
		if t.base, err = os.OpenRoot(base); err == nil {
			if err = os.Chmod(path, 0o700); err == nil {
				t.dir, err = t.base.OpenRoot(t.name)
			}
		}
		if err == nil {
			err = t.fill()
		}
		if err == nil {
			return t, nil
		}
		t.close()
		if !errors.Is(err, errSwept) && !errors.Is(err, fs.ErrNotExist) {
			os.RemoveAll(path)
			return nil, err
		}
	}
	return nil, err
}

var errSwept = errors.New("another program removes temporary directories")

// fill makes what belongs into a directory that was just made, and locks it.
func (t *temp) fill() (err error) {
	if err := errors.Join(t.dir.Mkdir(tempTree, 0o700), t.dir.Chmod(tempTree, 0o700)); err != nil {
		return err
	}
	t.lock, err = t.dir.OpenFile(tempLock, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	switch err := flock(t.lock); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errSwept
	case err != nil: // nobody could tell whether it is in use
		t.lock.Close()
		t.lock = nil
		return t.dir.Remove(tempLock)
	}
	if there, err := t.dir.Lstat(tempLock); err != nil || !same(there, t.lock) {
		return errSwept
	}
	return nil
}

func flock(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// same reports whether there is what f is.
func same(there os.FileInfo, f *os.File) bool {
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}

// close lets go of t, which stays.
func (t *temp) close() {
	for _, root := range []*os.Root{t.base, t.dir} {
		if root != nil {
			root.Close()
		}
	}
	if t.lock != nil {
		t.lock.Close()
	}
}

// remove removes t and lets go of it. The lock goes last, so that what was begun
// can be ended by somebody else.
func (t *temp) remove() error {
	defer t.close()
	err := t.dir.RemoveAll(tempTree)
	if err != nil {
		t.open()
		err = t.dir.RemoveAll(tempTree)
	}
	if err != nil {
		return err
	}
	if t.lock != nil {
		err = t.dir.Remove(tempLock)
	}
	return errors.Join(err, t.base.Remove(t.name))
}

// open makes the directories that commands have made ones that can be written
// to and entered. They may leave others, as Go's modules are.
func (t *temp) open() {
	fs.WalkDir(t.dir.FS(), tempTree, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			t.dir.Chmod(path, 0o700) // the removal reports a failure
		}
		return nil
	})
}

// sweep removes the temporary directories in base that killed processes have left.
// Directories of any other form stay.
func sweep(base string) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1000)
		for _, name := range names {
			if t := abandoned(root, name); t != nil {
				t.remove()
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// abandoned returns what is called name in base if it is a temporary directory
// of this user's that nobody has a lock on. It is locked then.
func abandoned(base *os.Root, name string) *temp {
	number, ok := strings.CutPrefix(name, tempName)
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return nil
	}
	there, err := base.Lstat(name)
	if err != nil || there.Mode() != fs.ModeDir|0o700 || !mine(there) {
		return nil
	}
	t := &temp{name: name}
	if t.dir, err = base.OpenRoot(name); err == nil {
		if t.base, err = base.OpenRoot("."); err == nil && t.take(there) {
			return t
		}
	}
	t.close()
	return nil
}

// take takes the lock of t, if t is still the directory at its path, not a link, and holds only
// the usual entries.
func (t *temp) take(there os.FileInfo) bool {
	self, err := t.dir.Open(".")
	if err != nil {
		return false
	}
	defer self.Close()
	entries, err := self.ReadDir(3)
	if err != nil || !same(there, self) {
		return false
	}
	locked := false
	for _, e := range entries {
		locked = locked || e.Name() == tempLock && e.Type().IsRegular()
		if e.Name() != tempLock && e.Name() != tempTree {
			return false
		}
	}
	if !locked {
		return false
	}
	t.lock, err = t.dir.OpenFile(tempLock, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil || flock(t.lock) != nil {
		return false
	}
	lock, err := t.dir.Lstat(tempLock)
	return err == nil && mine(lock) && same(lock, t.lock)
}

// mine reports whether a file is this user's.
func mine(i os.FileInfo) bool {
	st, ok := i.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
