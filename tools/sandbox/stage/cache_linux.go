package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// sharing is how many concurrent commands can overlay Below in one Cache.
const sharing = 8

// share mounts an overlay on the command's Cache: Below is the lower directory, and writes
// go to an upper one. Two commands can't share an upper directory: each takes the first
// free one. If none is free, or overlays are not available, the Cache stays as it is.
func (in *innerStage) share() {
	s := in.spec
	part := func(path string) bool { return inside(s.Below, path) || inside(path, s.Below) }
	if s.Cache == "" || part(s.Cache) || slices.ContainsFunc(s.Hidden, part) {
		return
	}
	how := &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	below, err := unix.Openat2(unix.AT_FDCWD, s.Below, how)
	if err != nil {
		return
	}
	defer unix.Close(below)
	for i := range sharing {
		err := lay(below, fmt.Sprintf("%s.layers/%d", s.Cache, i), s.Cache)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EBUSY) {
			return
		}
	}
}

// lay mounts an overlay at a path: below as the lower layer, dir as the upper. While this
// process lives, no other process gets dir.
func lay(below int, dir, at string) error {
	upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	if err := errors.Join(os.MkdirAll(at, 0o700), os.MkdirAll(upper, 0o700)); err != nil {
		return err
	}
	lock, err := unix.Openat2(unix.AT_FDCWD, dir,
		&unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	if err := unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(lock)
		return err
	}
	unlock(work)
	if err := errors.Join(os.RemoveAll(work), os.Mkdir(work, 0o700)); err != nil {
		unix.Close(lock)
		return err
	}
	fd, err := overlay(below, upper, work)
	if err == nil {
		err = tree{fd: fd, at: at}.put()
	}
	unlock(work)
	if err != nil {
		unix.Close(lock)
	}
	return err
}

// unlock makes a work directory removable: the kernel creates directories in it without
// permissions.
func unlock(work string) {
	for _, name := range []string{"work", "work/incompat", "work/incompat/volatile"} {
		os.Chmod(filepath.Join(work, name), 0o700)
	}
}

// overlay returns an overlay file system that is not mounted yet: below is the lower layer, and
// upper takes the writes.
func overlay(below int, upper, work string) (int, error) {
	layers := []struct {
		key  string
		path string
		fd   int
	}{{"lowerdir", "", below}, {"upperdir", upper, -1}, {"workdir", work, -1}}
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, l := range layers {
		if l.path != "" {
			if l.fd, err = find(l.path); err != nil {
				return -1, err
			}
			defer unix.Close(l.fd)
		}
		// By descriptor, as some characters in paths are special here.
		if err := unix.FsconfigSetString(fs, l.key, fmt.Sprintf("/proc/self/fd/%d", l.fd)); err != nil {
			return -1, err
		}
	}
	// userxattr, as an ordinary user may not set the default attributes. No index, as it
	// would bind upper files to lower files. volatile, or each command would wait for all
	// writes.
	err = errors.Join(unix.FsconfigSetFlag(fs, "userxattr"),
		unix.FsconfigSetString(fs, "index", "off"), unix.FsconfigSetFlag(fs, "volatile"))
	if err == nil {
		err = unix.FsconfigCreate(fs)
	}
	if err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}
