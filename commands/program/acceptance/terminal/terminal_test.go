package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A whole session on a terminal that can only append: what it shows is text and
// line ends.
func TestSessionOnADumbTerminal(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "unknown", "-"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(pt.Work()...)
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			pt.Converse(s.Line, s.Send, s.Expect)
			pt.Succeeds(t, s)
			pt.Lint(t, s.Transcript(), teletype.Rules{Quiet: true})
			text := string(s.Transcript())
			if n := strings.Count(text, pt.Asking); n != 3 {
				t.Errorf("asked %d times:\n%s", n, text)
			}
			if strings.Contains(text, "key-of-the-test") {
				t.Error("the key is on the screen")
			}
			pt.CheckWork(t, c, server)
		})
	}
}

func TestSessionOnASmartTerminal(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()...)
	c := pt.Terminal(t, server)
	c.Term = "xterm-256color"
	s := teletype.Start(t, c)
	pt.Converse(s.Line, s.Send, s.Expect)
	pt.Succeeds(t, s)
	pt.Lint(t, s.Transcript(), teletype.Rules{Smart: true})
	pt.CheckWork(t, c, server)
}

func TestSessionInTmux(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()...)
	c := pt.Terminal(t, server, "--sandbox=off") // the question is the same on every system
	c.Rows, c.Cols = 200, 100                    // nothing scrolls away
	m := teletype.StartTmux(t, c)
	const choices = "):"
	question := map[string]string{ // by the answer
		"y":                           "+Hello, world.\ny n a b e ? (a = always for greeting.txt, b = all edits this session" + choices,
		"n because I still need them": "permission: run: rm notes.txt\ny n a e ? (a = always this command" + choices,
		"a":                           "permission: run: echo count-$((6*7))\ny n a e ? (a = always this command" + choices,
	}
	pt.Converse(func(text string) {
		if q := question[text]; q != "" {
			m.Expect(q) // what is typed before it would not be an answer
		}
		m.Send(text)
		m.Key("Enter")
		if text != "/quit" {
			m.Expect(text + "\n") // what follows is older otherwise, or typed ahead
		}
	}, func(string) { m.Key("C-c") }, func(text string) string {
		switch text {
		case "> ":
			return m.ExpectEnd("> ")
		case pt.Asking, "done:", "permission:":
			return "" // the screen keeps the older ones, and the other texts say enough
		}
		return m.Expect(text)
	})
	m.End() // until then it writes
	pt.CheckWork(t, c, server)
}

// script(1) is how people record a session.
func TestSessionUnderScript(t *testing.T) {
	t.Parallel()
	path := pt.Need(t, "script")
	server := et.NewServer(pt.Work()...)
	c := pt.Terminal(t, server)
	record := filepath.Join(t.TempDir(), "record")
	c.Args = []string{"-q", "-c", c.Path + " " + strings.Join(c.Args, " "), record}
	c.Path = path
	s := teletype.Start(t, c)
	pt.Converse(s.Line, s.Send, s.Expect)
	s.Exit()
	b, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`\x1b`).Match(b) {
		t.Error("the record holds escape sequences")
	}
	pt.CheckWork(t, c, server)
}

// Leaving in every way there is: the exit code says how, and the session is
// there to go on with.
func TestLeaving(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		leave func(s *teletype.Session)
		code  int
	}{
		{"Ctrl-D", func(s *teletype.Session) { s.Send("\x04") }, 0},
		{"Ctrl-C twice", func(s *teletype.Session) { s.Send("\x03"); s.Expect("again"); s.Expect("> "); s.Send("\x03") }, 0},
		{"/exit", func(s *teletype.Session) { s.Line("/exit") }, 0},
		{"SIGTERM", func(s *teletype.Session) { s.Signal(syscall.SIGTERM) }, 143},
		{"SIGHUP", func(s *teletype.Session) { s.Signal(syscall.SIGHUP) }, 129},
		{"the terminal goes away", func(s *teletype.Session) { s.HangUp() }, 129},
	} {
		for _, term := range []string{"dumb", "xterm"} {
			t.Run(test.name+" "+term, func(t *testing.T) {
				server := et.NewServer(et.Says("Noted."), et.Says("Seven."))
				c := pt.Terminal(t, server)
				c.Term = term
				s := teletype.Start(t, c)
				s.Say("remember seven")
				s.Expect("done:")
				s.Expect("> ")
				test.leave(s)
				if code := s.Exit(); code != test.code {
					t.Errorf("exit code %d; want %d", code, test.code)
				}
				again := c
				again.Args = append(again.Args, "--resume")
				s = teletype.Start(t, again)
				s.Say("which number?")
				s.Expect("Seven.")
				s.Say("/quit")
				s.Exit()
				if !bytes.Contains(server.Requests()[1].Body, []byte("remember seven")) {
					t.Error("the session was not gone on with")
				}
			})
		}
	}
}

// A signal leaves a typed line on the screen.
func TestSignalWhileTyping(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		c := pt.Terminal(t, et.NewServer())
		c.Term = "xterm"
		s := teletype.Start(t, c)
		s.Expect("> ")
		s.Send("half a line")
		s.Expect("half a line")
		s.Signal(sig)
		if said := s.Expect("stopped by"); strings.Contains(said, "\x1b[J") {
			t.Errorf("%v erases: %q", sig, said)
		}
		s.Exit()
	}
}

// A prompt of the command line is the first of the session.
func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-i", "hello there"}, {"hello", "there"}} {
		server := et.NewServer(et.Says("Hello."), et.Says("Bye."))
		s := teletype.Start(t, pt.Terminal(t, server, args...))
		s.Expect("Hello.")
		s.Say("and now?")
		s.Expect("Bye.")
		s.Say("/quit")
		pt.Succeeds(t, s)
		if !bytes.Contains(server.Requests()[0].Body, []byte(`"hello there"`)) {
			t.Errorf("%q is not what was asked", args)
		}
	}
}

// What a command line asks for in a pipe never waits for a user: with -p at a
// terminal nothing is asked either.
func TestOneAnswerAtATerminal(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Work()[0], et.Says("I could not."))
	c := pt.Terminal(t, server, "-p", "mend it")
	s := teletype.Start(t, c)
	s.Expect("I could not.")
	pt.Succeeds(t, s)
	if strings.Contains(string(s.Transcript()), pt.Asking) {
		t.Error("somebody was asked")
	}
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, wrld.\n" {
		t.Errorf("the greeting is %q", b)
	}
}

// A command inside a prompt is asked about; without it the prompt is not sent.
func TestCommandInAPrompt(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(et.Says("Seen."))
			c := pt.Terminal(t, server, "--sandbox=off") // all is asked about
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("look: !{echo one}")
			s.Expect(pt.Asking)
			s.Line("n")
			s.Expect("the prompt was not sent, because of !{echo one}: refused\r\n")
			s.Say("look: !{echo two}")
			s.Expect(pt.Asking)
			s.Send("\x03")
			if text := s.Expect("cancelled"); strings.Contains(text, "error") {
				t.Errorf("shown: %q", text)
			}
			s.Say("look: !{echo $((1+2))}")
			s.Expect(pt.Asking)
			s.Line("y")
			s.Expect("Seen.")
			s.Say("/quit")
			s.Exit()
			if requests := server.Requests(); len(requests) != 1 || !bytes.Contains(requests[0].Body, []byte(`"look: 3`)) {
				t.Errorf("%d requests", len(requests))
			}
		})
	}
}

// Keys that a terminal without an editor of its own passes on as they are stand in
// no prompt.
func TestKeysInPlainMode(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Done."))
	c := pt.Terminal(t, server)
	c.Term = "dumb"
	s := teletype.Start(t, c)
	s.Say("\x1b[A\x1bOH")
	s.Say("one \x1b[1;5Ctwo \x1b[Zthree")
	s.Expect("done:")
	s.Say("/quit")
	if n, got := len(server.Requests()), pt.LastAsked(server); n != 1 || !strings.Contains(got, `"one two three"`) {
		t.Errorf("%d requests, the last one with %s", n, got)
	}
}
