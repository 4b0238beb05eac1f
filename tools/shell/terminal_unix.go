//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal returns the two ends of a terminal in raw mode.
func terminal(columns, rows int) (ours, theirs *os.File, err error) {
	if columns <= 0 || columns > 1<<15 || rows <= 0 || rows > 1<<15 {
		columns, rows = 80, 30
	}
	ours, theirs, err = openTerminal()
	if err != nil {
		return nil, nil, err
	}
	err = pty.Setsize(theirs, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err == nil {
		_, err = term.MakeRaw(int(theirs.Fd()))
	}
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	return ours, theirs, nil
}

// openTerminal returns the two ends of a terminal. Reading from ours supports deadlines.
func openTerminal() (ours, theirs *os.File, err error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer master.Close() // it is blocking; a non-blocking copy supports deadlines
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
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

// control makes cmd the leader of a session, with its standard input as the controlling
// terminal. The command ignores SIGHUP: the system sends it to background processes at the
// leader's end, but they must continue.
func control(cmd *exec.Cmd) error {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Setctty = true // of file 0
	cmd.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = sh
	return nil
}
