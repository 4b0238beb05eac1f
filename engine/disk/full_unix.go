//go:build unix

package disk

import (
	"errors"
	"syscall"
)

// full reports whether err means that the disk is full.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
