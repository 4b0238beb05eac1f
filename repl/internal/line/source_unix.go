//go:build unix

package line

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// canTimeOut is true: a read may have a timeout.
const canTimeOut = true

// A source reads a file. A cancelled read loses no later input.
type source struct {
	file    *os.File
	in      int  // the descriptor that is read
	own     bool // in was opened here
	tty     bool
	modes   modes
	waker   waker
	chunk   []byte
	decode  func(b []byte) []byte // see [Config]
	echoing *unix.Termios         // the modes before echoOff, nil if it was not called

	quiet   atomic.Bool // text typed between two reads is hidden
	unseen  atomic.Bool // text typed since the last read was hidden, if possible
	lentOut atomic.Bool // a command has the terminal; see passthrough
	resumed atomic.Bool // the program has continued after a stop
	left    atomic.Bool // see [Reader.Leave]
}

func newSource(f *os.File) (*source, error) {
	w, err := newWaker()
	if err != nil {
		return nil, err
	}
	s := &source{file: f, in: int(f.Fd()), modes: modes{file: f}, waker: w, chunk: make([]byte, 64<<10)}
	if s.tty = term.IsTerminal(s.in); s.tty {
		s.in, s.own = reopen(s.in)
	}
	return s, nil
}

func (s *source) close() error {
	s.restore()
	if s.own {
		unix.Close(s.in)
	}
	return s.waker.close()
}

// echoOff switches the echo off, until restore.
func (s *source) echoOff() error {
	if !s.tty {
		return nil
	}
	before, err := s.modes.get()
	if err != nil {
		return err
	}
	after := *before
	withoutEcho(&after)
	if err := s.modes.set(&after); err != nil {
		return err
	}
	s.echoing = before
	return nil
}

// restore brings back the terminal's original modes.
func (s *source) restore() {
	s.modes.restore()
	if s.echoing != nil && s.modes.foreground() {
		s.modes.set(s.echoing)
	}
}

// errWoken is returned by wait after a wake, and errResumed by read if the program was stopped in
// the meantime.
var (
	errWoken   = errors.New("woken")
	errResumed = errors.New("resumed")
)

// resume tells the reading goroutine that the program continues after a stop.
func (s *source) resume() {
	s.resumed.Store(true)
	s.waker.wake()
}

// expect forgets an earlier stop.
func (s *source) expect() { s.resumed.Store(false) }

// read waits for input and returns it. The bytes are valid until the
// next call.
func (s *source) read(ctx context.Context) ([]byte, error) { return s.readWithin(ctx, noLimit) }

// noLimit is the limit of a wait without a timeout.
const noLimit = -time.Millisecond

// readWithin is read with a timeout, after which it returns neither input nor an error.
func (s *source) readWithin(ctx context.Context, limit time.Duration) ([]byte, error) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { s.waker.wake(); close(woken) })
	defer func() {
		if !stop() {
			<-woken
			s.waker.drain()
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.resumed.Swap(false) {
			return nil, errResumed
		}
		b, err := s.wait(int(limit.Milliseconds()))
		if err == errWoken {
			continue
		}
		return b, err
	}
}

// waiting reports whether input is available.
func (s *source) waiting() bool {
	fds := []unix.PollFd{{Fd: int32(s.in), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// wait is read with a timeout in milliseconds, after which it returns neither input nor an error.
func (s *source) wait(limit int) ([]byte, error) {
	fds := []unix.PollFd{{Fd: int32(s.in), Events: unix.POLLIN}, {Fd: int32(s.waker[0]), Events: unix.POLLIN}}
	switch n, err := unix.Poll(fds, limit); {
	case err == unix.EINTR:
		return nil, errWoken
	case err != nil:
		return nil, err
	case n == 0:
		return nil, nil
	}
	if fds[1].Revents != 0 {
		s.waker.drain()
		return nil, errWoken
	}
	if fds[0].Revents&unix.POLLNVAL != 0 {
		return nil, io.EOF
	}
	n, err := unix.Read(s.in, s.chunk)
	switch {
	case err == unix.EINTR, err == unix.EAGAIN:
		return nil, errWoken
	case err != nil:
		return nil, err
	case n == 0:
		return nil, io.EOF
	}
	return s.typed(s.chunk[:n]), nil
}

// typed converts input of a terminal to UTF-8, unless a command has the terminal.
func (s *source) typed(b []byte) []byte {
	if s.decode == nil || !s.tty || s.lentOut.Load() {
		return b
	}
	return s.decode(b)
}

// echoes reports whether the terminal shows typed text, and so the end of
// each line.
func (s *source) echoes() bool {
	if !s.tty {
		return false
	}
	t, err := s.modes.get()
	return err == nil && t.Lflag&(unix.ECHO|unix.ECHONL) != 0
}

// lines reports whether the terminal delivers whole lines. Another program may have switched that
// off.
func (s *source) lines() bool {
	t, err := s.modes.get()
	return err != nil || t.Lflag&unix.ICANON != 0
}

// awaitForeground stops the program until it is in the terminal's foreground, since it can't read
// in the background. It tells j, which may be nil. Until then the shell's modes stay.
func (s *source) awaitForeground(j *jobs) {
	if !s.tty || s.modes.foreground() {
		return
	}
	j.stopped(func() bool { return tcdrain(int(s.file.Fd())) == nil })
}

// hideEcho hides typed text until the next read, if the terminal would show it and the program is
// in the foreground.
func (s *source) hideEcho() {
	if s.lentOut.Load() {
		s.modes.change(passthroughMode)
		return
	}
	if !s.tty || !s.quiet.Load() {
		return
	}
	if s.unseen.Store(true); !s.modes.foreground() {
		return
	}
	if t, err := s.modes.original(); err == nil && t.Lflag&unix.ECHO != 0 && t.Lflag&unix.ICANON != 0 {
		s.modes.change(quietMode)
	}
}

// setQuiet switches hideEcho on or off.
func (s *source) setQuiet(on bool) {
	if s.quiet.Store(on); on {
		s.hideEcho()
	}
}

// typedUnseen makes text that was typed and not entered count as typed ahead.
func (s *source) typedUnseen() { s.unseen.Store(s.tty) }

// typeAhead returns text that was typed since the last read and hidden.
func (s *source) typeAhead() []byte {
	if !s.unseen.Load() {
		return nil
	}
	return s.pending()
}

// pending returns unread input, including an incomplete line. It stores a Ctrl-D as 0, the
// terminal's form in line mode, even if it arrives while the terminal is being drained.
func (s *source) pending() []byte {
	typed := s.drop()
	if t, err := s.modes.original(); err == nil {
		typed = bytes.ReplaceAll(typed, []byte{t.Cc[unix.VEOF]}, []byte{0})
	}
	return typed
}

// drop reads and returns the terminal's unread input, including an incomplete line. It restores the
// original modes.
func (s *source) drop() []byte {
	s.unseen.Store(false)
	if !s.tty || !s.modes.foreground() || s.modes.change(drainMode) != nil {
		return nil
	}
	defer s.modes.restore()
	return s.typed(drain(s.in, s.chunk))
}

// drain reads a terminal in [drainMode] until nothing is left.
func drain(in int, chunk []byte) (all []byte) {
	for {
		n, err := unix.Read(in, chunk)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return all
		}
		all = append(all, chunk[:n]...)
	}
}

// hidden reads a line without echo. It calls ready when the echo is off.
func (s *source) hidden(ctx context.Context, ready func()) (line []byte, err error) {
	if err := s.modes.change(secretMode); err != nil {
		return nil, io.EOF // the terminal is gone
	}
	ready()
	defer s.modes.restore()
	defer func() { clear(s.chunk) }()
	for {
		b, err := s.read(ctx)
		if err == errResumed {
			s.modes.change(secretMode)
			ready()
			continue
		}
		line = append(line, b...)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			return line[:i], nil
		}
		if err != nil {
			clear(line)
			s.drop()
			return nil, err
		}
	}
}

// raw switches to raw mode, and returns a function that restores the modes.
func (s *source) raw() (restore func(), err error) {
	if err := s.modes.change(rawMode); err != nil {
		return nil, err
	}
	return s.modes.restore, nil
}
