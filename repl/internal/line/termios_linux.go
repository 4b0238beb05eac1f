package line

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// longestLine is the longest line that the terminal stores, in bytes; it silently drops the rest.
const longestLine = 4095

// tcdrain waits until the terminal has sent all output. It stops a program in the background.
func tcdrain(fd int) error { return unix.IoctlSetInt(fd, unix.TCSBRK, 1) }

// reopen opens the terminal fd again, with reads that don't block. A Ctrl-C empties a terminal,
// even between a poll that found a line and the read of that line. O_NONBLOCK belongs to the open
// file, and the shell shares the open file of fd. If the terminal can't be opened, reopen returns
// fd.
func reopen(fd int) (in int, own bool) {
	in, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd),
		unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fd, false
	}
	return in, true
}
