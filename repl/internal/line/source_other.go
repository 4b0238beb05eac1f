//go:build !unix

package line

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/term"
)

// A source reads a file. A read can't be cancelled here.
type source struct {
	file  *os.File
	tty   bool
	modes modes
	chunk []byte

	decode func(b []byte) []byte // consoles of other systems pass UTF-8
	waker  waker
}

// A waker does nothing.
type waker struct{}

func (waker) wake() {}

// modes are the modes of a terminal.
type modes struct{ restored func() }

func (m *modes) restore() {
	if m.restored != nil {
		m.restored()
		m.restored = nil
	}
}

func newSource(f *os.File) (*source, error) {
	return &source{file: f, tty: term.IsTerminal(int(f.Fd())), chunk: make([]byte, 64<<10)}, nil
}

func (s *source) close() error          { s.modes.restore(); return nil }
func (s *source) resume()               {}
func (s *source) typedUnseen()          {}
func (s *source) expect()               {}
func (s *source) echoes() bool          { return s.tty }
func (s *source) lines() bool           { return true }
func (s *source) hideEcho()             {}
func (s *source) awaitForeground(*jobs) {}
func (s *source) setQuiet(bool)         {}
func (s *source) drop() []byte          { return nil }
func (s *source) typeAhead() []byte     { return nil }

// canTimeOut is false: a read has no timeout, so that pastes are not recognized.
const canTimeOut = false

func (s *source) readWithin(ctx context.Context, _ time.Duration) ([]byte, error) { return s.read(ctx) }
func (s *source) waiting() bool                                                   { return false }
func (s *source) passthrough(func(Connect)) []byte                                { return nil }
func (s *source) pending() []byte                                                 { return nil }

// longestLine is 0: the limit is unknown.
const longestLine = 0

var (
	errWoken   = errors.New("woken")
	errResumed = errors.New("resumed")
)

func (s *source) read(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.wait(-1)
}

func (s *source) wait(int) ([]byte, error) {
	n, err := s.file.Read(s.chunk)
	return s.chunk[:n], err
}

func (s *source) raw() (restore func(), err error) {
	old, err := term.MakeRaw(int(s.file.Fd()))
	if err != nil {
		return nil, err
	}
	s.modes.restored = func() { term.Restore(int(s.file.Fd()), old) }
	return s.modes.restore, nil
}

// hidden reads a line without echo.
func (s *source) hidden(_ context.Context, ready func()) ([]byte, error) {
	ready()
	return term.ReadPassword(int(s.file.Fd()))
}

// echoOff returns an error: this system has no such mode.
func (s *source) echoOff() error {
	return errors.New("this system's terminals always show the typed text")
}

func (s *source) restore() { s.modes.restore() }
