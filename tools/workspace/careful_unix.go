//go:build unix

package workspace

import (
	"errors"
	"syscall"
)

// careful keeps an open from waiting, and from taking a terminal.
const careful = syscall.O_NONBLOCK | syscall.O_NOCTTY

// full reports whether err says that there is no room left.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
