//go:build !unix

package line

import (
	"errors"
	"os"
)

// A LeaveOptions is how a terminal is left for good by a program that goes on.
type LeaveOptions struct {
	Files  []*os.File
	Say    func(shell bool)
	Resume func(group int) error
}

// Leave is an error: a terminal can't be left here.
func (r *Reader) Leave(LeaveOptions) error {
	return errors.New("a terminal can't be left on this system")
}
