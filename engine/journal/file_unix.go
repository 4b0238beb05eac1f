//go:build unix

package journal

import "syscall"

// noFollow keeps a file from being opened through a symbolic link.
const noFollow = syscall.O_NOFOLLOW
