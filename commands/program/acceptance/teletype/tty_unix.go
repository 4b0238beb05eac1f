//go:build unix

package teletype

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// interruptible returns a file of the same terminal whose Close does not wait
// for a Read.
func interruptible(tty *os.File) (*os.File, error) {
	fd, err := syscall.Dup(int(tty.Fd()))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := tty.Close(); err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

// resize does not use the Fd method, which would make reads block.
func resize(tty *os.File, rows, cols uint16) error {
	conn, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	var ierr error
	if err := conn.Control(func(fd uintptr) {
		ierr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}); err != nil {
		return err
	}
	return ierr
}
