package teletype

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Command is a program to be run at a terminal.
type Command struct {
	Path string
	Args []string // without the name
	Env  []string // the whole environment, but for TERM; empty means PATH only
	Dir  string
	Term string // "dumb" if empty; "-" leaves TERM unset

	Rows, Cols int // 24 by 80 if 0; negative for a terminal that does not know

	// Wait is how long Expect and Exit wait; five minutes if 0.
	Wait time.Duration
}

// patience is long enough for a slow machine on which much else goes on.
const patience = 5 * time.Minute

// A Session is a running program and its terminal.
type Session struct {
	t    testing.TB
	cmd  *exec.Cmd
	tty  *os.File
	wait time.Duration

	mu    sync.Mutex
	all   []byte
	seen  int           // how much of all Expect has gone past
	grown chan struct{} // closed when all grows or ends
	over  bool

	reader  sync.WaitGroup
	exited  chan struct{}
	drained chan struct{} // the terminal has nothing more to say
	code    int
}

// Start runs c. The program is killed at the end of the test if it still runs.
func Start(t testing.TB, c Command) *Session {
	t.Helper()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	if len(cmd.Env) == 0 {
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	}
	cmd.Env = append(cmd.Env, "GORACE=atexit_sleep_ms=0") // the race detector would wait a second at the end
	switch c.Term {
	case "-":
	case "":
		cmd.Env = append(cmd.Env, "TERM=dumb")
	default:
		cmd.Env = append(cmd.Env, "TERM="+c.Term)
	}
	size := &pty.Winsize{Rows: 24, Cols: 80}
	if c.Rows != 0 {
		size.Rows = uint16(max(c.Rows, 0))
	}
	if c.Cols != 0 {
		size.Cols = uint16(max(c.Cols, 0))
	}
	tty, err := pty.StartWithSize(cmd, size)
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip("no pseudo-terminals here")
	}
	if err != nil {
		t.Fatalf("start %s: %v", c.Path, err)
	}
	if tty, err = interruptible(tty); err != nil {
		t.Fatal(err)
	}
	s := &Session{t: t, cmd: cmd, tty: tty, wait: c.Wait, grown: make(chan struct{}),
		exited: make(chan struct{}), drained: make(chan struct{})}
	if s.wait == 0 {
		s.wait = patience
	}
	s.reader.Go(func() { defer close(s.drained); s.read() })
	s.reader.Go(func() {
		cmd.Wait()
		s.code = cmd.ProcessState.ExitCode()
		close(s.exited)
	})
	t.Cleanup(s.stop)
	return s
}

func (s *Session) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.all = append(s.all, buf[:n]...)
		s.over = err != nil
		close(s.grown)
		s.grown = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *Session) stop() {
	s.cmd.Process.Kill()
	<-s.exited
	s.tty.Close()
	s.reader.Wait()
	if s.t.Failed() {
		s.t.Logf("the terminal has seen:\n%q", s.Transcript())
	}
}

// Transcript returns every byte that the terminal has been sent, the echo of
// what was typed included.
func (s *Session) Transcript() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.all)
}

// Expect waits until the program has shown text, after what was expected last,
// and returns everything up to its end.
func (s *Session) Expect(text string) string {
	s.t.Helper()
	return s.until(fmt.Sprintf("%q", text), func(b []byte) int {
		if i := bytes.Index(b, []byte(text)); i >= 0 {
			return i + len(text)
		}
		return -1
	})
}

// Match is Expect for a regular expression.
func (s *Session) Match(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	return s.until(pattern, func(b []byte) int {
		if at := re.FindIndex(b); at != nil {
			return at[1]
		}
		return -1
	})
}

// Settle waits until all that the program has shown ends in a pattern, whatever was
// waited for before, and moves behind it.
func (s *Session) Settle(pattern *regexp.Regexp) {
	s.t.Helper()
	s.until(pattern.String(), func([]byte) int {
		if !pattern.Match(s.all) {
			return -1
		}
		return len(s.all) - s.seen
	})
}

// until waits until find returns where to go on, and returns what is before.
func (s *Session) until(what string, find func([]byte) int) string {
	s.t.Helper()
	late := time.After(s.wait)
	for {
		s.mu.Lock()
		rest, grown, over := s.all[s.seen:], s.grown, s.over
		end := find(rest)
		if end >= 0 {
			s.seen += end
			s.mu.Unlock()
			return string(rest[:end])
		}
		s.mu.Unlock()
		if over {
			s.t.Fatalf("the program ended without showing %s", what)
		}
		select {
		case <-grown:
		case <-late:
			s.t.Fatalf("nothing like %s in %v", what, s.wait)
		}
	}
}

// Send types text. Enter is "\r".
func (s *Session) Send(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, text); err != nil {
		s.t.Fatalf("type %q: %v", text, err)
	}
}

// Try is Send to a program that may have ended, and reports whether it still runs.
func (s *Session) Try(text string) bool {
	select {
	case <-s.exited:
		return false
	default:
	}
	_, err := io.WriteString(s.tty, text)
	return err == nil
}

// prompting matches the prompt of a session where nothing follows it but what a smart
// terminal is sent there.
var prompting = regexp.MustCompile(`> (?:\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\a\x1b]*(?:\a|\x1b\\))*$`)

// Say waits for the prompt of a session and types a line there. A prompt that more has
// been written behind is none: a line that is typed while the program works may come together
// with the next one, and lines that come together are a paste.
func (s *Session) Say(line string) {
	s.t.Helper()
	s.until("a prompt", func(rest []byte) int {
		if !prompting.Match(rest) {
			return -1
		}
		return len(rest)
	})
	s.Line(line)
}

// Line types text and Enter.
func (s *Session) Line(text string) {
	s.t.Helper()
	s.Send(text + "\r")
}

// Signal sends a signal to the program itself.
func (s *Session) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("send %v: %v", sig, err)
	}
}

// Resize changes the size of the terminal.
func (s *Session) Resize(rows, cols int) {
	s.t.Helper()
	if err := resize(s.tty, uint16(rows), uint16(cols)); err != nil {
		s.t.Fatalf("resize: %v", err)
	}
}

// HangUp takes the terminal away.
func (s *Session) HangUp() { s.tty.Close() }

// Free waits until nobody has the terminal open any more.
func (s *Session) Free() {
	s.t.Helper()
	select {
	case <-s.drained:
	case <-time.After(s.wait):
		s.t.Fatalf("somebody still has the terminal after %v", s.wait)
	}
}

// Exit waits for the program to end and returns its exit code, or -1 if a
// signal ended it.
func (s *Session) Exit() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(s.wait):
		s.t.Fatalf("the program still runs after %v", s.wait)
	}
	select { // what it wrote last may still be on its way
	case <-s.drained:
	case <-time.After(10 * time.Second): // something else holds the terminal open
	}
	return s.code
}
