//go:build !unix

package teletype

import (
	"os"

	"github.com/creack/pty"
)

func interruptible(tty *os.File) (*os.File, error) { return tty, nil }

func resize(tty *os.File, rows, cols uint16) error {
	return pty.Setsize(tty, &pty.Winsize{Rows: rows, Cols: cols})
}
