package disk

import (
	"io"
	"syscall"
)

// Read implements [io.Reader].
func (f RawFile) Read(b []byte) (int, error) {
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

// Close implements [io.Closer].
func (f RawFile) Close() error { return syscall.Close(int(f)) }
