//go:build !unix

package output

import (
	"errors"
	"os"
)

// Descriptor returns an error: this system inherits no descriptors.
func Descriptor(int) (*os.File, error) {
	return nil, errors.New("descriptors can't be passed on to a program here")
}
