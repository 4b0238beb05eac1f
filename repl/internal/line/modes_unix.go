//go:build unix

package line

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// modes are the modes of a terminal. All changes are derived from the original modes, which restore
// brings back. They are safe for concurrent use.
type modes struct {
	file *os.File

	mu    sync.Mutex
	found *unix.Termios // the original modes, nil while they are unchanged
}

// change sets the original modes, modified by how.
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

// restore brings back the original modes. In the background it leaves the terminal alone.
func (m *modes) restore() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found != nil && m.foreground() {
		m.set(m.found)
	}
	m.found = nil
}

// original returns the original modes.
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

// foreground reports whether the program is in the terminal's foreground.
func (m *modes) foreground() bool {
	group, err := unix.IoctlGetInt(int(m.file.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// withoutEcho switches the echo off.
func withoutEcho(t *unix.Termios) { t.Lflag &^= unix.ECHO | unix.ECHONL }

// quietMode has no echo, and preserves typed text when the user stops a turn.
func quietMode(t *unix.Termios) {
	withoutEcho(t)
	t.Lflag |= unix.NOFLSH
}

// secretMode reads a line without echo, for secrets.
func secretMode(t *unix.Termios) {
	withoutEcho(t)
	t.Iflag |= unix.ICRNL
	t.Lflag |= unix.ICANON | unix.ISIG
}

// drainMode delivers the present input without waiting.
func drainMode(t *unix.Termios) {
	withoutEcho(t)
	t.Lflag &^= unix.ICANON
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 0, 0
}

// passthroughMode delivers every key to the program, and its output unchanged to the screen.
func passthroughMode(t *unix.Termios) {
	rawMode(t)
	t.Oflag &^= unix.OPOST
}

// rawMode delivers every key to the program.
func rawMode(t *unix.Termios) {
	withoutEcho(t)
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
}
