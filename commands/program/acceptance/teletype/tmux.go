package teletype

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Tmux is a program on a screen that tmux draws.
type Tmux struct {
	t      testing.TB
	socket string
	wait   time.Duration
}

// StartTmux runs c in a tmux of its own. It skips the test where there is no
// tmux, unless GEMLINE_TEST_ALL says that there must be.
func StartTmux(t testing.TB, c Command) *Tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip("no tmux here")
	}
	m := &Tmux{t: t, socket: filepath.Join(SocketDir(t), "tmux"), wait: c.Wait}
	if m.wait == 0 {
		m.wait = patience
	}
	rows, cols := c.Rows, c.Cols
	if rows == 0 {
		rows = 24
	}
	if cols == 0 {
		cols = 80
	}
	args := []string{"-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows)}
	if c.Dir != "" {
		args = append(args, "-c", c.Dir)
	}
	for _, e := range c.Env {
		args = append(args, "-e", e)
	}
	m.tmux(append(append(args, "--", c.Path), c.Args...)...)
	m.tmux("set-option", "-g", "remain-on-exit", "on")
	t.Cleanup(func() { exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	return m
}

// Look has a terminal of its own look at what runs in tmux, until that is closed.
func (m *Tmux) Look(t testing.TB) *Session {
	t.Helper()
	return Start(t, Command{Path: "tmux", Args: []string{"-u", "-S", m.socket, "attach"}, Term: "xterm"})
}

// SocketDir returns a new directory for sockets, whose names may be no longer
// than a hundred bytes: those of TempDir can be. It goes when the test ends.
func SocketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "gemline")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (m *Tmux) tmux(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", m.socket}, args...)...)
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh") // it runs the program
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Send types text as it is.
func (m *Tmux) Send(text string) { m.t.Helper(); m.tmux("send-keys", "-l", "--", text) }

// Buffer returns what would be pasted.
func (m *Tmux) Buffer() string { m.t.Helper(); return m.tmux("show-buffer") }

// Key presses keys by their names, such as Enter or C-c; what names no key is typed.
func (m *Tmux) Key(names ...string) {
	m.t.Helper()
	m.tmux(append([]string{"send-keys"}, names...)...)
}

// Paste pastes text the way the program has asked for.
func (m *Tmux) Paste(text string) {
	m.t.Helper()
	m.tmux("set-buffer", "--", text)
	m.tmux("paste-buffer", "-p")
}

// Resize changes the size of the screen.
func (m *Tmux) Resize(rows, cols int) {
	m.t.Helper()
	m.tmux("resize-window", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows))
}

// Screen returns what is to be seen, without blanks at the ends of lines and
// empty lines at the end.
func (m *Tmux) Screen() string {
	m.t.Helper()
	return strings.TrimRight(m.tmux("capture-pane", "-p"), "\n")
}

// History returns what Screen does, and before it what was scrolled away.
func (m *Tmux) History() string {
	m.t.Helper()
	return strings.TrimRight(m.tmux("capture-pane", "-p", "-S", "-"), "\n")
}

// Cursor returns the row and column of the cursor, counted from 0.
func (m *Tmux) Cursor() (row, col int) {
	m.t.Helper()
	out := m.tmux("display-message", "-p", "#{cursor_y} #{cursor_x}")
	if _, err := fmt.Sscan(out, &row, &col); err != nil {
		m.t.Fatalf("cursor %q: %v", out, err)
	}
	return row, col
}

// End waits until the program has ended. What tmux says of it is not enough: now
// and then it does not notice for a long time.
func (m *Tmux) End() {
	m.t.Helper()
	pid := strings.TrimSpace(m.tmux("display-message", "-p", "#{pane_pid}"))
	m.until("the program has not ended", func(string) bool {
		state, _ := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
		s := strings.TrimSpace(string(state))
		return s == "" || s[0] == 'Z'
	})
}

// Expect waits until the screen shows text and returns the screen.
func (m *Tmux) Expect(text string) string {
	m.t.Helper()
	return m.until(fmt.Sprintf("no %q on the screen", text), func(s string) bool { return strings.Contains(s, text) })
}

// ExpectEnd waits until the screen ends with text, such as a prompt, and
// returns the screen. Blanks at the end don't count.
func (m *Tmux) ExpectEnd(text string) string {
	m.t.Helper()
	text = strings.TrimRight(text, " ")
	return m.until(fmt.Sprintf("the screen does not end with %q", text),
		func(s string) bool { return strings.HasSuffix(s, text) })
}

func (m *Tmux) until(otherwise string, ok func(screen string) bool) string {
	m.t.Helper()
	late := time.After(m.wait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) { // each look starts a program
		s := m.Screen()
		if ok(s) {
			return s
		}
		select {
		case <-time.After(pause):
		case <-late:
			m.t.Fatalf("%s after %v:\n%s", otherwise, m.wait, s)
		}
	}
}
