//go:build unix

package line

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// modes are the modes of a terminal. Whatever they are changed to is derived
// from those that were found, which come back with restore. They may be used
// on any goroutine.
type modes struct {
	file *os.File

	mu    sync.Mutex
	found *unix.Termios // nil while they are as they were found
}

// change puts the terminal into the modes found, but for what how changes.
func (m *modes) change(how func(*unix.Termios)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.found
	if found == nil {
		var err error
		if found, err = m.get(); err != nil {
			return err
		}
	}
	t := *found
	how(&t)
	if err := m.set(&t); err != nil {
		return err
	}
	m.found = found
	return nil
}

// restore brings back the modes that were found. In the background it leaves
// the terminal to whom it belongs.
func (m *modes) restore() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found != nil && m.foreground() {
		m.set(m.found)
	}
	m.found = nil
}

// original returns the modes as they were found.
func (m *modes) original() (*unix.Termios, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found != nil {
		t := *m.found
		return &t, nil
	}
	return m.get()
}

func (m *modes) get() (*unix.Termios, error) {
	for {
		t, err := unix.IoctlGetTermios(int(m.file.Fd()), getTermios)
		if err != unix.EINTR {
			return t, err
		}
	}
}

func (m *modes) set(t *unix.Termios) error {
	for {
		if err := unix.IoctlSetTermios(int(m.file.Fd()), setTermios, t); err != unix.EINTR {
			return err
		}
	}
}

// foreground reports whether the terminal is this program's at the moment.
func (m *modes) foreground() bool {
	group, err := unix.IoctlGetInt(int(m.file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// withoutEcho takes the echo away from the terminal.
func withoutEcho(t *unix.Termios) { t.Lflag &^= unix.ECHO | unix.ECHONL }

// quietMode is without echo, and keeps typed text when the user stops a turn.
func quietMode(t *unix.Termios) {
	withoutEcho(t)
	t.Lflag |= unix.NOFLSH
}

// secretMode is how a secret is read: a line, without echo.
func secretMode(t *unix.Termios) {
	withoutEcho(t)
	t.Iflag |= unix.ICRNL
	t.Lflag |= unix.ICANON | unix.ISIG
}

// drainMode hands out the present input, and waits for nothing.
func drainMode(t *unix.Termios) {
	withoutEcho(t)
	t.Lflag &^= unix.ICANON
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 0, 0
}

// passthroughMode gives every key to the program, and what that writes to the
// screen as it is.
func passthroughMode(t *unix.Termios) {
	rawMode(t)
	t.Oflag &^= unix.OPOST
}

// rawMode gives every key to the program.
func rawMode(t *unix.Termios) {
	withoutEcho(t)
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
}
