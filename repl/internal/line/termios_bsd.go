//go:build unix && !linux

package line

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// longestLine is 0: the terminal itself reports a line that is too long.
const longestLine = 0

// tcdrain waits until the terminal has sent all output. It stops a program in the background.
func tcdrain(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCDRAIN, 0) }

// reopen returns fd: no name opens the terminal without sharing the flags of the open file.
func reopen(fd int) (in int, own bool) { return fd, false }
