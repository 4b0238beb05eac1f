package line

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// longestLine is how much of a line the terminal keeps; it drops the rest
// without a word.
const longestLine = 4095

// tcdrain waits until the terminal has sent all output. It stops a program in the background.
func tcdrain(fd int) error { return unix.IoctlSetInt(fd, unix.TCSBRK, 1) }

// reopen opens the terminal fd anew, so that reading it does not block: Ctrl-C
// empties a terminal, also between the poll that found a line and the read that
// would fetch it. O_NONBLOCK is a flag of the open file, and the one behind fd
// is shared with the shell. It returns fd where the terminal can't be opened.
func reopen(fd int) (in int, own bool) {
	in, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd),
		unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fd, false
	}
	return in, true
}
