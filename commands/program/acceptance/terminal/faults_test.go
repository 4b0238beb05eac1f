//go:build unix

package terminal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A whole session on terminals that are odd in one way or another.
func TestOddTerminals(t *testing.T) {
	t.Parallel()
	for _, odd := range []struct {
		name, term, setup string
		env               []string
		rows, cols        int
	}{
		{name: "no size", term: "xterm", setup: "stty rows 0 cols 0"},
		{name: "no size", term: "dumb", setup: "stty rows 0 cols 0"},
		{name: "one column", term: "dumb", rows: 24, cols: 1},
		{name: "one column", term: "xterm", rows: 24, cols: 1},
		{name: "one row", term: "xterm", rows: 1, cols: 80},
		{name: "unheard of", term: "weird"},
		{name: "another locale", term: "dumb", env: []string{"LANG=C", "LC_ALL=C"}},
		{name: "another locale", term: "xterm", env: []string{"LANG=C", "LC_ALL=C"}},
		{name: "300 baud without echo", term: "dumb", setup: "stty 300 -echo"},
		{name: "seven bits", term: "dumb", setup: "stty cs7 istrip"},
		{name: "no line editing", term: "dumb", setup: "stty -icanon"},
	} {
		t.Run(odd.name+" "+odd.term, func(t *testing.T) {
			server := et.NewServer(pt.Work()...)
			c := pt.Terminal(t, server)
			c.Term, c.Rows, c.Cols = odd.term, odd.rows, odd.cols
			c.Env = append(c.Env, odd.env...)
			if odd.setup != "" {
				c.Args = append([]string{"-c", odd.setup + `; exec "$0" "$@"`, c.Path}, c.Args...)
				c.Path = "/bin/sh"
			}
			s := teletype.Start(t, c)
			pt.Converse(s.Line, s.Send, s.Expect)
			pt.Succeeds(t, s)
			pt.Lint(t, s.Transcript(), teletype.Rules{Smart: odd.term != "dumb"})
			pt.CheckWork(t, c, server)
		})
	}
}

// Output that the user holds up with Ctrl-S goes on where it was with Ctrl-Q.
func TestHeldOutput(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			asked, held := make(chan struct{}), make(chan struct{})
			var words []string
			for i := range 2000 {
				words = append(words, "word"+strconv.Itoa(i)+". ")
			}
			server := et.NewServer()
			server.Respond = func(et.Received) et.Reply {
				close(asked)
				<-held
				return et.Streams(words...)
			}
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("go on")
			<-asked
			s.Send("\x13") // Ctrl-S
			close(held)
			<-server.Ended()
			if strings.Contains(string(s.Transcript()), strings.TrimSpace(words[len(words)-1])) { // the first ones may be ahead of the key
				t.Error("the output was not held up")
			}
			s.Send("\x11") // Ctrl-Q
			text := s.Expect("done:")
			at := 0
			for _, w := range words {
				i := strings.Index(text[at:], strings.TrimSpace(w))
				if i < 0 {
					t.Fatalf("%q was lost", w)
				}
				at += i
			}
			s.Match(pt.Prompting)
			s.Line("/quit")
			pt.Succeeds(t, s)
		})
	}
}

// A terminal that goes away ends the session as a hang-up, whatever goes on:
// nothing that was asked about is done, nothing goes on, nothing is lost.
func TestTerminalVanishes(t *testing.T) {
	t.Parallel()
	question := et.Says("", et.Call("1", "run_shell_command", "command", "rm notes.txt"))
	for phase, test := range map[string]struct {
		reply *et.Reply
		line  string
		until string
		typed string
	}{
		"a line is typed":     {typed: "half a li"},
		"the model thinks":    {reply: ptr(et.Silent()), line: "go on", until: "go on\r\n"},
		"the answer comes":    {reply: ptr(et.Stalled(et.Streams("One. ", "Two. "))), line: "go on", until: "Two."},
		"a retry is due":      {reply: ptr(et.RateLimited(time.Minute)), line: "go on", until: "asking again"},
		"a call is asked":     {reply: &question, line: "go on", until: pt.Asking},
		"an answer is typed":  {reply: &question, line: "go on", until: pt.Asking, typed: "ye"},
		"a question is asked": {reply: ptr(questions()), line: "go on", until: toChoose},
		"a command runs":      {line: "!echo pid $$; exec sleep 1000", until: "echo"},
		"an editor runs":      {reply: &question, line: "go on", until: pt.Asking, typed: "e\r"},
	} {
		for _, term := range pt.Terminals {
			t.Run(phase+" "+term, func(t *testing.T) {
				t.Parallel()
				server, asked := et.NewServer(et.Says("Noted.")), make(chan pt.Ended, 1)
				if test.reply != nil {
					server.Add(pt.Telling(asked, *test.reply))
				}
				server.Add(et.Says("Seven."))
				c := pt.Terminal(t, server)
				c.Term = term
				c.Env = append(c.Env, "EDITOR=cat")
				s := teletype.Start(t, c)
				s.Say("remember seven")
				s.Expect("done:")
				s.Match(pt.Prompting)
				if test.line != "" {
					s.Line(test.line)
					if test.reply != nil {
						<-asked
					}
					s.Expect(test.until)
				}
				pid := ""
				if strings.HasPrefix(test.line, "!") {
					_, pid, _ = strings.Cut(strings.TrimSpace(s.Match(`pid [0-9]+\r\n`)), "pid ")
					pid = pid[strings.LastIndex(pid, " ")+1:]
				}
				if test.typed != "" {
					s.Send(test.typed)
				}
				s.HangUp()
				if code := s.Exit(); code != 129 {
					t.Errorf("exit code %d", code)
				}
				if n, _ := strconv.Atoi(pid); n > 0 && !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) && !zombie(pid) {
					t.Errorf("process %s goes on", pid)
				}
				again := c
				again.Args = append(slices.Clone(again.Args), "--resume", "latest")
				s = teletype.Start(t, again)
				s.Say("which number?")
				s.Expect("Seven.")
				s.Match(pt.Prompting)
				s.Line("/quit")
				s.Exit()
				requests := pt.Streamed(server)
				pt.CheckTurns(t, requests[len(requests)-1].Contents(), "remember seven", "Noted.", "which number?")
				if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
					t.Errorf("what was asked about was done: %v", err)
				}
			})
		}
	}
}

// A terminal that goes away ends the session also when a shell keeps the news
// to itself.
func TestTerminalVanishesUnheard(t *testing.T) {
	t.Parallel()
	for phase, test := range map[string]struct{ line, until string }{
		"the model thinks": {line: "go on"},
		"a command runs":   {line: "!echo on 'its' way; exec sleep 1000", until: "on its way"},
	} {
		for _, term := range pt.Terminals {
			t.Run(phase+" "+term, func(t *testing.T) {
				t.Parallel()
				asked := make(chan pt.Ended, 1)
				server := et.NewServer(pt.Telling(asked, et.Silent()))
				c := pt.Terminal(t, server)
				c.Term = term
				c.Args = append([]string{"-c", `trap : HUP; "$0" "$@"; exit $?`, c.Path}, c.Args...)
				c.Path = "/bin/sh"
				s := teletype.Start(t, c)
				s.Say(test.line)
				if test.until == "" {
					<-asked
				} else {
					s.Expect(test.until)
				}
				s.HangUp()
				if code := s.Exit(); code != 129 {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}
}

func ptr[T any](v T) *T { return &v }

// zombie reports whether a process is over and only waits to be noticed, as an
// orphan may where process 1 is slow.
func zombie(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
