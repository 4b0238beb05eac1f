//go:build !unix

package line

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// A source reads a file. Here waiting can't be given up.
type source struct {
	file  *os.File
	tty   bool
	chunk []byte
}

func newSource(f *os.File) (*source, error) {
	return &source{file: f, tty: term.IsTerminal(int(f.Fd())), chunk: make([]byte, 64<<10)}, nil
}

func (s *source) terminal() bool { return s.tty }
func (s *source) close() error   { return nil }
func (s *source) wake()          {}
func (s *source) echoes() bool   { return s.tty }
func (s *source) drop() []byte   { return nil }

// longestLine is 0, since nothing is known of a limit.
const longestLine = 0

var errWoken = errors.New("woken")

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
	return func() { term.Restore(int(s.file.Fd()), old) }, nil
}
