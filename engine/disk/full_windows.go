package disk

import (
	"errors"
	"syscall"
)

// full reports whether err means that the disk is full.
func full(err error) bool {
	const (
		handleDiskFull = syscall.Errno(39)
		diskFull       = syscall.Errno(112)
	)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
}
