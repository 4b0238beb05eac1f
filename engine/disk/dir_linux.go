package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A quick opens files by openat2, one system call for a name of any length.
// Kernels before 5.6 don't have it, and some containers forbid it.
type quick struct {
	dir  *os.File // nil if it can't
	fd   int      // of dir
	disk atomic.Uint64
}

func (q *quick) open(root *os.Root) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	q.dir, q.fd = dir, int(dir.Fd())
	fd, err := q.openat(".", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		dir.Close()
		q.dir = nil
		return
	}
	syscall.Close(fd)
}

func (q *quick) close() {
	if q.dir != nil {
		q.dir.Close()
	}
}

// openat opens the file called name. No element of the path may be a link; the last element may
// if flags have O_PATH.
func (q *quick) openat(name string, flags uint64) (int, error) {
	defer runtime.KeepAlive(q)
	if flags&unix.O_DIRECTORY == 0 { // which would turn a link into ENOTDIR
		flags |= unix.O_NOFOLLOW
	}
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(q.fd, name, &how)
		switch err {
		case unix.EINTR, unix.EAGAIN:
			continue
		case unix.ELOOP:
			return -1, ErrLink
		}
		return fd, err
	}
}

func (d *Dir) lstat(name string) (fs.FileInfo, error) {
	if d.quick.dir == nil {
		return d.lstatSlow(name)
	}
	fd, err := d.quick.openat(name, unix.O_PATH)
	if err != nil {
		return nil, err
	}
	s := &stat{name: filepath.Base(name)}
	if name == "." {
		s.name = filepath.Base(d.path)
	}
	err = syscall.Fstat(fd, &s.st)
	syscall.Close(fd)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (d *Dir) file(name string) (*os.File, fs.FileInfo, error) {
	if d.quick.dir == nil {
		return d.fileSlow(name)
	}
	// Opening a device may already do something, so look first; and look
	// again at the opened file.
	fd, err := d.quick.openat(name, unix.O_PATH)
	if err != nil {
		return nil, nil, err
	}
	err = d.content(fd, nil)
	syscall.Close(fd)
	if err != nil {
		return nil, nil, err
	}
	if fd, err = d.quick.openat(name, syscall.O_RDONLY|careful); err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, name))
	if err = d.content(fd, nil); err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil {
			return f, info, nil
		}
	}
	f.Close()
	return nil, nil, err
}

// content returns why the open file has no content to be read; else it tells
// the size, unless size is nil.
func (d *Dir) content(fd int, size *int64) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFLNK:
		return ErrLink
	case syscall.S_IFDIR:
		return ErrDirectory
	default:
		return ErrIrregular
	}
	if size != nil {
		*size = st.Size
	}
	return d.quick.kernels(fd, uint64(st.Dev))
}

// kernels returns an error if the open file, on the device dev, is made up by
// the kernel. Most files are where the one before was.
func (q *quick) kernels(fd int, dev uint64) error {
	if q.disk.Load() == dev+1 {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return err
	}
	if synthetic(int64(st.Type)) {
		return ErrKernel
	}
	q.disk.Store(dev + 1)
	return nil
}

func (d *Dir) list(name string) ([]fs.DirEntry, error) {
	if d.quick.dir == nil {
		return d.listSlow(name)
	}
	fd, err := d.quick.openat(name, syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(d.path, name))
	defer f.Close()
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if err := d.quick.kernels(fd, uint64(st.Dev)); err != nil {
		return nil, err
	}
	return f.ReadDir(-1)
}

// made returns an error if the open file is made up by the kernel.
func made(f *os.File) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err == nil && synthetic(int64(st.Type)) {
		return ErrKernel
	}
	return nil
}

// synthetic reports whether a file system of this type holds the kernel's own
// matters, other processes among them.
func synthetic(kind int64) bool {
	switch kind {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC,
		unix.SMACK_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC,
		unix.EFIVARFS_MAGIC, unix.BINFMTFS_MAGIC, unix.NSFS_MAGIC, 0x62656570: // the last one is configfs
		return true
	}
	return false
}

// A RawFile is an open file without what os.File costs when very many are read.
type RawFile int

// RawFile opens the regular file called name, as File does, and tells its size. It does not check
// the type first, so name must have been listed as a regular file. Reads never wait for data.
func (d *Dir) RawFile(name string) (RawFile, int64, error) {
	if d.quick.dir == nil {
		f, info, err := d.fileSlow(name)
		if err != nil {
			return -1, 0, err
		}
		defer f.Close()
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return RawFile(fd), info.Size(), err
	}
	fd, err := d.quick.openat(name, syscall.O_RDONLY|careful)
	if err != nil {
		return -1, 0, err
	}
	var size int64
	if err := d.content(fd, &size); err != nil {
		syscall.Close(fd)
		return -1, 0, err
	}
	return RawFile(fd), size, nil
}
