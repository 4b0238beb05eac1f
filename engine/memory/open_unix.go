//go:build unix

package memory

import (
	"errors"
	"syscall"
)

// careful keeps an open from waiting for the other end of a pipe.
const careful = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW

func noDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
