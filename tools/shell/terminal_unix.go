//go:build unix

package shell

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal returns the two ends of a terminal that passes on what is written
// as it is.
func terminal(columns, rows int) (ours, theirs *os.File, err error) {
	if columns <= 0 || columns > 1<<15 || rows <= 0 || rows > 1<<15 {
		columns, rows = 80, 30
	}
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer master.Close() // opening has made it blocking; a copy is not
	err = pty.Setsize(slave, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err == nil {
		_, err = term.MakeRaw(int(slave.Fd()))
	}
	fd := -1
	if err == nil {
		fd, err = unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		slave.Close()
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), master.Name()), slave, nil
}
