//go:build unix

package line

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A waker is a pipe; a byte in it ends the waiting of a [source].
type waker [2]int

func newWaker() (w waker, err error) {
	if err := unix.Pipe(w[:]); err != nil {
		return w, err
	}
	for _, fd := range w {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return w, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w waker) close() error { return errors.Join(unix.Close(w[0]), unix.Close(w[1])) }

// wake ends a waiting read.
func (w waker) wake() { unix.Write(w[1], []byte{0}) }

// drain removes earlier wakes.
func (w waker) drain() {
	var b [16]byte
	for {
		if n, err := unix.Read(w[0], b[:]); n <= 0 || err != nil {
			return
		}
	}
}
