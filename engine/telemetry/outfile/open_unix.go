//go:build unix

package outfile

import "syscall"

const nonblock = syscall.O_NONBLOCK
