//go:build !unix

package line

import (
	"errors"
	"os"
)

// A LeaveOptions says how to detach the terminal of a program that continues.
type LeaveOptions struct {
	Files  []*os.File
	Say    func(shell bool)
	Resume func(group int) error
}

// Leave returns an error: this system can't detach a terminal.
func (r *Reader) Leave(LeaveOptions) error {
	return errors.New("a terminal can't be left on this system")
}
