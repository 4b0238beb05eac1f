package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// MaxFile is the size of the largest file that is read.
const MaxFile = 20 << 20

// Why a file can't be used, beside the errors of [io/fs].
var (
	ErrDirectory   = errors.New("is a directory")
	ErrNoDirectory = errors.New("is not a directory")
	ErrIrregular   = errors.New("is not a regular file")
	ErrBinary      = errors.New("is not text")
	ErrFull        = errors.New("no space left on device")
)

// longest is how long a file that can make its reader wait may be read.
const longest = 10 * time.Second

// A SizeError is a file too large to be read.
type SizeError struct {
	Path        string
	Size, Limit int64
}

// Error says how large the file is and how large it may be.
func (e *SizeError) Error() string {
	return fmt.Sprintf("read %s: %.2f MB are more than the limit of %d MB", e.Path, float64(e.Size)/(1<<20), e.Limit>>20)
}

// openRegular is the one place that opens files for reading. It never waits
// for the other end of a pipe and has no effect on a device. The real path has
// no links left; name is for errors.
func openRegular(real, name string) (*os.File, fs.FileInfo, error) {
	// Opening a device may already do something, so look first; and look
	// again at what was opened.
	info, err := os.Lstat(real)
	if err != nil {
		return nil, nil, rename(err, name)
	}
	if err := regular(info); err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := os.OpenFile(real, os.O_RDONLY|careful, 0)
	if err != nil {
		return nil, nil, rename(err, name)
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	// Some files are read like a pipe and only say that they are regular,
	// such as /proc/kmsg; for all others there is no deadline.
	f.SetReadDeadline(time.Now().Add(longest))
	return f, info, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrDirectory
	case !info.Mode().IsRegular():
		return ErrIrregular
	}
	return nil
}

// rename makes err speak of name instead of where it leads. A file below what
// is no directory does not exist.
func rename(err error, name string) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		if missing(pe.Err) {
			return &fs.PathError{Op: pe.Op, Path: name, Err: fs.ErrNotExist}
		}
		return &fs.PathError{Op: pe.Op, Path: name, Err: pe.Err}
	}
	return err
}

// missing reports whether err says that a file or one of its parents is not
// there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadBytes returns the content of the regular file at path, if it has no more
// than limit bytes. Its errors are those of [io/fs], an [*OutsideError], an
// [*SizeError], [ErrDirectory] or [ErrIrregular].
func (w *Workspace) ReadBytes(path string, limit int64) ([]byte, fs.FileInfo, error) {
	real, err := w.real(path)
	if err != nil {
		return nil, nil, err
	}
	return w.over.read(real, path, limit)
}

// readFile returns the content of the file on disk at real, which has no links
// left, if it has no more than limit bytes; name is for errors.
func readFile(real, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := openRegular(real, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := readAll(f, info.Size(), limit)
	if err != nil {
		if se := (*SizeError)(nil); errors.As(err, &se) {
			se.Path = name
			se.Size = max(se.Size, info.Size())
			return nil, info, se
		}
		return nil, info, rename(err, name)
	}
	return b, info, nil
}

// readAll reads f, which says that it has size bytes. Some files have more
// than they say.
func readAll(f io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, &SizeError{Size: size, Limit: limit}
	}
	b := make([]byte, 0, max(size, 0)+1)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if int64(len(b)) > limit {
			return nil, &SizeError{Size: int64(len(b)), Limit: limit}
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
