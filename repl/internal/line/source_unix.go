//go:build unix

package line

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A source reads a file in such a way that waiting can be given up without
// losing what arrives later.
type source struct {
	file  *os.File
	tty   bool
	waker [2]int // a pipe; a byte in it ends the waiting
	chunk []byte
}

func newSource(f *os.File) (*source, error) {
	s := &source{file: f, tty: term.IsTerminal(int(f.Fd())), chunk: make([]byte, 64<<10)}
	if err := unix.Pipe(s.waker[:]); err != nil {
		return nil, err
	}
	for _, fd := range s.waker {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *source) terminal() bool { return s.tty }

func (s *source) close() error {
	return errors.Join(unix.Close(s.waker[0]), unix.Close(s.waker[1]))
}

// wake ends a read that waits.
func (s *source) wake() { unix.Write(s.waker[1], []byte{0}) }

// errWoken is returned by wait when wake was called.
var errWoken = errors.New("woken")

// read waits for input and returns it. What it returns is valid until the
// next call.
func (s *source) read(ctx context.Context) ([]byte, error) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { s.wake(); close(woken) })
	defer func() {
		if !stop() {
			<-woken
			s.calm()
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := s.wait(-1)
		if err == errWoken || err == nil && b == nil {
			continue
		}
		return b, err
	}
}

// wait is read with a limit in milliseconds; nothing without an error means
// that it is over.
func (s *source) wait(limit int) ([]byte, error) {
	fd := int(s.file.Fd())
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(s.waker[0]), Events: unix.POLLIN}}
	switch n, err := unix.Poll(fds, limit); {
	case err == unix.EINTR:
		return nil, errWoken
	case err != nil:
		return nil, err
	case n == 0:
		return nil, nil
	}
	if fds[1].Revents != 0 {
		s.calm()
		return nil, errWoken
	}
	if fds[0].Revents&unix.POLLNVAL != 0 {
		return nil, io.EOF
	}
	n, err := unix.Read(fd, s.chunk)
	switch {
	case err == unix.EINTR, err == unix.EAGAIN:
		return nil, errWoken
	case err != nil:
		return nil, err
	case n == 0:
		return nil, io.EOF
	}
	return s.chunk[:n], nil
}

// calm empties the waker.
func (s *source) calm() {
	var b [16]byte
	for {
		if n, err := unix.Read(s.waker[0], b[:]); n <= 0 || err != nil {
			return
		}
	}
}

// echoes reports whether the terminal shows what is typed, and so the end of
// each line.
func (s *source) echoes() bool {
	if !s.tty {
		return false
	}
	t, err := unix.IoctlGetTermios(int(s.file.Fd()), getTermios)
	return err == nil && t.Lflag&(unix.ECHO|unix.ECHONL) != 0
}

// drop takes what was typed and not yet read out of the terminal, half a line
// included, and returns it.
func (s *source) drop() []byte {
	fd := int(s.file.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil
	}
	open := *old
	open.Lflag &^= unix.ICANON
	open.Cc[unix.VMIN], open.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &open); err != nil {
		return nil
	}
	defer unix.IoctlSetTermios(fd, setTermios, old)
	var all []byte
	for {
		n, err := unix.Read(fd, s.chunk)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return all
		}
		all = append(all, s.chunk[:n]...)
	}
}

// raw gives every key to the program and returns how to undo it.
func (s *source) raw() (restore func(), err error) {
	fd := int(s.file.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	t := *old
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &t); err != nil {
		return nil, err
	}
	return func() { unix.IoctlSetTermios(fd, setTermios, old) }, nil
}
