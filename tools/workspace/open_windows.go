package workspace

import (
	"errors"
	"os"
	"syscall"
)

// careful has no meaning here.
const careful = 0

// openDir opens the directory at path.
func openDir(path string, _ bool) (*os.File, error) { return os.Open(path) }

// full reports whether err says that there is no room left.
func full(err error) bool {
	const (
		handleDiskFull = syscall.Errno(39)
		diskFull       = syscall.Errno(112)
	)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
}

// A raw is an open file.
type raw struct{ *os.File }

// openRaw opens a regular file and tells its size.
func openRaw(path string) (raw, int64, error) {
	f, info, err := openRegular(path, path)
	if err != nil {
		return raw{}, 0, err
	}
	return raw{f}, info.Size(), nil
}

func (f raw) read(b []byte) (int, error) { return f.Read(b) }

func (f raw) close() { f.Close() }
