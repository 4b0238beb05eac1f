package disk

import (
	"errors"
	"syscall"
)

// full reports whether err says that there is no room left.
func full(err error) bool {
	const (
		handleDiskFull = syscall.Errno(39)
		diskFull       = syscall.Errno(112)
	)
	return errors.Is(err, handleDiskFull) || errors.Is(err, diskFull)
}
