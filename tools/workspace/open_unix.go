//go:build unix

package workspace

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// careful keeps an open from waiting, from taking a terminal and from
// following a link.
const careful = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// openDir opens the directory at path, which may be a link only if linked.
func openDir(path string, linked bool) (*os.File, error) {
	flags := os.O_RDONLY | syscall.O_DIRECTORY | careful
	if linked {
		flags &^= syscall.O_NOFOLLOW
	}
	return os.OpenFile(path, flags, 0)
}

// full reports whether err says that there is no room left.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// A raw is an open file without what os.File costs when very many are read.
type raw int

// openRaw opens a regular file, as openRegular does, and tells its size.
func openRaw(path string) (raw, int64, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|careful, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return -1, 0, err
		}
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			syscall.Close(fd)
			return -1, 0, ErrIrregular
		}
		return raw(fd), st.Size, nil
	}
}

func (f raw) read(b []byte) (int, error) {
	n, err := syscall.Read(int(f), b)
	for err == syscall.EINTR {
		n, err = syscall.Read(int(f), b)
	}
	switch {
	case err != nil:
		return 0, err
	case n <= 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f raw) close() { syscall.Close(int(f)) }
