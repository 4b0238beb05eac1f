//go:build unix && !linux

package line

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// longestLine is 0, since the terminal says itself when a line is too long.
const longestLine = 0
