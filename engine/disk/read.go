package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A TooLargeError is the error of a file above a limit, in bytes.
type TooLargeError int64

// Error returns the reason.
func (e TooLargeError) Error() string {
	if n := int64(e); n%(1<<20) != 0 {
		return fmt.Sprintf("is larger than %d bytes", n)
	}
	return fmt.Sprintf("is larger than %d MiB", int64(e)>>20)
}

// Read returns the content of the regular file at path, or at the target of a link there. Other
// kinds of files are not opened: a pipe may block its reader, and opening a device may have an
// effect. The error is [ErrDirectory], [ErrIrregular], a [TooLargeError] for a file with more
// bytes than most, or an error of the system.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadOpen(f, most)
}

// Open opens the regular file at path for reading, as [Read] does.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := Regular(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|NoWait, 0) // the file may have been replaced
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && Regular(info) != nil {
		err = &fs.PathError{Op: "open", Path: path, Err: Regular(info)}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadOpen is [Read] for an open file, from its current position.
func ReadOpen(f *os.File, most int64) ([]byte, error) {
	wrong := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: err} }
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := Regular(info); err != nil {
		return wrong(err)
	}
	if info.Size() > most {
		return wrong(TooLargeError(most))
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	switch n, err := b.ReadFrom(io.LimitReader(f, most+1)); { // the size may have changed
	case err != nil:
		return nil, err
	case n > most:
		return wrong(TooLargeError(most))
	}
	return b.Bytes(), nil
}

// Cause returns the system's error of a file, without the path.
func Cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}
