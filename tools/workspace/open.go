package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"gemline/engine/disk"
)

// MaxFile is the size of the largest file that is read.
const MaxFile = 20 << 20

// Reasons why a file can't be used, beside the errors of [io/fs].
var (
	ErrDirectory   = disk.ErrDirectory
	ErrNoDirectory = errors.New("is not a directory")
	ErrIrregular   = disk.ErrIrregular
	ErrKernel      = disk.ErrKernel
	ErrMoved       = errors.New("it, or a directory above it, is being moved or replaced by a link")
)

// A SizeError is a file too large to be read.
type SizeError struct {
	Path        string
	Size, Limit int64
}

// Error names the size of the file and the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("read %s: %.2f MB are more than the limit of %d MB", e.Path,
		float64(e.Size)/(1<<20), e.Limit>>20)
}

// A GoneError means that a directory of the workspace was removed.
type GoneError struct{ Root string }

// Error names the directory, and what to do.
func (e *GoneError) Error() string {
	return fmt.Sprintf("the workspace directory %s was removed or replaced since gemline began; start gemline again to work in a new one", e.Root)
}

// rename replaces the path in err by name. A file below a path that is no directory does
// not exist.
func rename(err error, name string) error {
	op, why := "open", err
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		op, why = pe.Op, pe.Err
	}
	if errors.Is(why, syscall.ENOTDIR) {
		why = syscall.ENOENT
	}
	return &fs.PathError{Op: op, Path: name, Err: why}
}

// missing reports whether err means that a file or one of its parents does not exist.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadBytes returns the content of the regular file at path, if it has no more
// than limit bytes. Its errors are those of [io/fs], an [*OutsideError], an
// [*SizeError], a [*GoneError], [ErrDirectory], [ErrIrregular], [ErrKernel] or
// [ErrMoved].
func (w *Workspace) ReadBytes(path string, limit int64) (b []byte, info fs.FileInfo, err error) {
	err = w.at(path, func(p ResolvedPath) (err error) {
		b, info, err = p.read(limit)
		return err
	})
	return b, info, err
}
