//go:build unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// A RawDir is an open directory whose entries are looked at one by one, as cheaply
// as the system lets it. Names are those of entries; no link is followed.
type RawDir struct {
	path string
	fd   int
}

// RawDir opens the directory called name.
func (d *Dir) RawDir(name string) (*RawDir, error) {
	at, err := d.sub(name)
	if err != nil {
		return nil, d.blame(err, "open", name)
	}
	defer at.Close()
	f, err := at.Open(".")
	if err != nil {
		return nil, d.blame(err, "open", name)
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return &RawDir{filepath.Join(d.path, name), fd}, err
}

// RawDir opens the directory called name.
func (f *RawDir) RawDir(name string) (*RawDir, error) {
	fd, err := f.open(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &RawDir{filepath.Join(f.path, name), fd}, nil
}

// Close closes the directory.
func (f *RawDir) Close() { syscall.Close(f.fd) }

func (f *RawDir) open(name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(f.fd, name, flags|unix.O_RDONLY|careful, 0)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
			continue
		case unix.ELOOP:
			return -1, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: ErrLink}
		}
		return -1, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: err}
	}
}

// Names returns the names of the entries, in no order.
func (f *RawDir) Names() ([]string, error) {
	fd, err := f.open(".", unix.O_DIRECTORY) // which begins at the first one
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), f.path)
	defer file.Close()
	if err := made(file); err != nil {
		return nil, &fs.PathError{Op: "open", Path: f.path, Err: err}
	}
	return file.Readdirnames(-1)
}

// Stat returns the metadata of the directory itself.
func (f *RawDir) Stat() (Stat, error) {
	var st unix.Stat_t
	err := unix.Fstat(f.fd, &st)
	return statOf(&st), err
}

// StatAt returns the metadata of an entry, without following a link.
func (f *RawDir) StatAt(name string) (Stat, error) {
	var st unix.Stat_t
	err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return Stat{}, &fs.PathError{Op: "stat", Path: filepath.Join(f.path, name), Err: err}
	}
	return statOf(&st), nil
}

// File opens a regular file for reading. It never waits.
func (f *RawDir) File(name string) (*os.File, error) {
	fd, err := f.open(name, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), filepath.Join(f.path, name))
	info, err := file.Stat()
	if err == nil {
		err = Regular(info)
	}
	if err == nil {
		err = made(file)
	}
	if err != nil {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(f.path, name), Err: err}
	}
	return file, nil
}

// Readlink returns where a link leads.
func (f *RawDir) Readlink(name string) (string, error) {
	for size := 128; ; size *= 2 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(f.fd, name, b)
		if err != nil {
			return "", &fs.PathError{Op: "readlink", Path: filepath.Join(f.path, name), Err: err}
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}
