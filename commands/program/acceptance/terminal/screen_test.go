//go:build unix

package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A whole session inside GNU screen, and what it has scrolled away is there in
// its history as it was written.
func TestSessionInScreen(t *testing.T) {
	t.Parallel()
	path := pt.Need(t, "screen")
	for _, plain := range []bool{false, true} {
		t.Run(map[bool]string{false: "smart", true: "plain"}[plain], func(t *testing.T) {
			server := et.NewServer(pt.Work()...)
			c := pt.Terminal(t, server)
			dir := t.TempDir()
			pt.Write(t, dir, map[string]string{"rc": "startup_message off\nlogfile " + filepath.Join(dir, "log") + "\nlogfile flush 1\ndeflog on\ndefscrollback 1000\n"})
			if plain {
				c.Env = append(c.Env, "ACCESSIBLE=1")
			}
			c.Env = append(c.Env, "SCREENDIR="+teletype.SocketDir(t), "LC_ALL=C.UTF-8")
			c.Args = append([]string{"-c", filepath.Join(dir, "rc"), "-U", c.Path}, c.Args...)
			c.Path, c.Term = path, "xterm"
			s := teletype.Start(t, c)
			pt.Converse(s.Line, s.Send, func(text string) string {
				if plain && text == "+Hello, world." {
					text = "removed: 1: Hello, wrld.\r\nadded: 1: Hello, world.\r\n" // + and - are not spoken
				}
				if plain && text == pt.Asking {
					text = pt.AskingAloud
				}
				return s.Expect(text)
			})
			s.Expect("[screen is terminating]")
			s.Exit()
			pt.CheckWork(t, c, server)
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			if plain {
				pt.CheckPlain(t, log)
			}
			if !strings.Contains(string(log), "done:") {
				t.Errorf("screen has seen %q", log)
			}
		})
	}
}

// What plain mode has written is what stands on the screen, line by line:
// nothing was taken back.
func TestScreenEqualsWhatWasWritten(t *testing.T) {
	t.Parallel()
	pt.Need(t, "script")
	server := et.NewServer(pt.Work()[0], et.Says("All *done*.\n\n- one\n- two\n\n```go\nfunc main() {}\n```\n"))
	c := pt.Terminal(t, server)
	record := filepath.Join(t.TempDir(), "record")
	c.Env = append(c.Env, "ACCESSIBLE=1")
	c.Rows, c.Cols = 500, 300 // nothing scrolls away or is wrapped
	c.Args = []string{"-qf", "-c", strings.Join(append([]string{c.Path}, c.Args...), " "), record}
	c.Path = pt.Need(t, "script")
	m := teletype.StartTmux(t, c)
	m.ExpectEnd("> ")
	for _, l := range []struct{ line, until string }{
		{"mend it", "more: "}, {"what?", "?: "}, {"y", "> "}, {"/help", "> "}, {"/stats", "> "}, {"!ls; exit 3", "> "}, {"/settings list --all", "> "}, {"@greeting.txt", "> "},
	} {
		m.Send(l.line)
		m.Expect(l.line)
		m.Key("Enter")
		m.Expect(l.line + "\n") // and what follows
		m.ExpectEnd(l.until)
	}
	screen := m.Screen()
	m.Send("x") // script records what it has shown before it takes in more
	m.ExpectEnd("> x")
	written, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	written = bytes.TrimSuffix(written, []byte("x"))
	if bytes.HasPrefix(written, []byte("Script started")) { // by script itself
		_, written, _ = bytes.Cut(written, []byte("\n"))
	}
	pt.CheckPlain(t, written)
	if got, want := flat(screen), flat(string(written)); got != want {
		t.Errorf("on the screen, and not written, or the other way round:\n%s", cmp.Diff(want, got))
	}
	m.Key("C-u") // script outlives a screen that goes away
	m.Send("/quit")
	m.Key("Enter")
	m.End()
}

// flat returns lines without what a screen can't hold: how far a tab went, and
// blanks at the end.
func flat(text string) string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
