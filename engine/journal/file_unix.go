//go:build unix

package journal

import "syscall"

// noFollow prevents opening through a symbolic link.
const noFollow = syscall.O_NOFOLLOW
