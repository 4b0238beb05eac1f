//go:build !unix

package output

import (
	"errors"
	"os"
)

// Descriptor returns an error: descriptors are not inherited here.
func Descriptor(int) (*os.File, error) {
	return nil, errors.New("descriptors can't be passed on to a program here")
}
