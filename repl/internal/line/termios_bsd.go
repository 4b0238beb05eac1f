//go:build unix && !linux

package line

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// longestLine is 0, since the terminal says itself when a line is too long.
const longestLine = 0

// tcdrain waits until the terminal has sent all output. It stops a program in the background.
func tcdrain(fd int) error { return unix.IoctlSetInt(fd, unix.TIOCDRAIN, 0) }

// reopen returns fd: there is no name that opens a terminal anew without
// sharing the flags of the file that is open already.
func reopen(fd int) (in int, own bool) { return fd, false }
