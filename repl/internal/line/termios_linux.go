package line

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// longestLine is how much of a line the terminal keeps; it drops the rest
// without a word.
const longestLine = 4095
