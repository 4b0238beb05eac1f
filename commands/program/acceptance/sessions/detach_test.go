//go:build unix

package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// shells are those that a session is started from, and how they are started without what
// somebody has set up.
var shells = map[string][]string{
	"bash": {"--norc", "--noprofile", "-i"},
	"dash": {"-i"},
	"zsh":  {"-f", "-i"},
	"fish": {"--no-config", "-i"},
}

// inShell starts a shell that has c be its command gemline.
func inShell(t *testing.T, name string, c teletype.Command, prompt string) (s *teletype.Session, ended func()) {
	t.Helper()
	pipe, over := filepath.Join(t.TempDir(), "pipe"), make(chan struct{})
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(over)
		os.ReadFile(pipe) // until nobody has it open any more
	}()
	bin := t.TempDir()
	if err := os.Symlink(c.Path, filepath.Join(bin, "gemline")); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			c.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	line := "gemline " + strings.Join(c.Args, " ")
	if prompt != "" {
		line += " -i " + pt.Quoted(prompt)
	}
	line += " 9>" + pipe
	c.Path, c.Args = pt.Need(t, name), shells[name]
	s = teletype.Start(t, c)
	s.Line("echo re''ady") // not every shell shows the same prompt
	s.Expect("ready\r\n")
	s.Line(line)
	return s, func() {
		select {
		case <-over:
		case <-time.After(5 * time.Minute):
			t.Error("the session still runs")
		}
	}
}

// back checks that the shell has its terminal back.
func back(s *teletype.Session) {
	s.Line("echo he''re")
	s.Expect("here\r\n")
}

// A session that is left with a question open keeps it: the shell has its prompt, and the
// session outlives it.
func TestDetachAtQuestion(t *testing.T) {
	t.Parallel()
	for shell := range shells {
		for _, term := range pt.Terminals {
			t.Run(shell+"/"+term, func(t *testing.T) {
				t.Parallel()
				server := et.NewServer(pt.Removes("1"), et.Says("It is gone."))
				c := pt.Terminal(t, server, "--sandbox=off")
				c.Term = term
				s, ended := inShell(t, shell, c, "remove the notes")
				s.Match(`y n [^\r\n]*: $`)
				s.Line("/detach")
				s.Expect("detached; the session goes on")
				back(s)
				if shell == "bash" { // it may not know yet that the job goes on
					s.Line("disown -a")
				} else {
					s.Line("exit") // they speak of jobs first
				}
				s.Line("exit")
				s.Exit()
				a := teletype.Start(t, pt.Attaches(c))
				a.Match(`y n [^\r\n]*: $`)
				if got := live(t, c); len(got) != 1 || got[0] != "waiting for an answer" {
					t.Errorf("live: %q", got)
				}
				a.Line("y")
				a.Expect("It is gone.")
				a.Expect("> ")
				a.Line("/detach")
				a.Expect("this session has no terminal of its own")
				a.Line("/quit")
				a.Expect("the session has ended")
				a.Exit()
				ended()
			})
		}
	}
}

// A turn goes on when the terminal is left, whoever says so.
func TestDetachFromWork(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(et.Says("One."))
			server := et.NewServer(first, et.Says("Queued."), et.Says("Two."))
			c := pt.Terminal(t, server)
			c.Term = term
			s, ended := inShell(t, "bash", c, "begin")
			<-g.Asked
			s.Line("what comes next")
			s.Expect("queued: what comes next")
			s.Line("/detach")
			s.Expect("detached; the session goes on")
			back(s)
			s.Line("gemline attach 1")
			s.Expect("attached to the session")
			close(g.Open)
			s.Expect("One.")
			s.Expect("Queued.")
			s.Expect("> ")
			s.Line("and then")
			s.Expect("Two.")
			s.Expect("> ")
			s.Send("\x04")
			s.Expect("detached; the session goes on")
			back(s)
			s.Line("fg") // the shell still has it among its jobs
			back(s)
			s.Line("gemline attach 1")
			s.Expect("> ")
			s.Line("/quit")
			s.Expect("the session has ended")
			ended()
			s.Line("exit")
			s.Exit()
		})
	}
}

// Without a shell the terminal is free all the same.
func TestDetachWithoutShell(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Says("One."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Line("/detach")
			s.Expect("nothing waits for this terminal")
			s.Free()
			a := teletype.Start(t, pt.Attaches(c))
			a.Say("begin")
			a.Expect("One.")
			a.Expect("> ")
			a.Line("/quit")
			a.Expect("the session has ended")
			a.Exit()
			if code := s.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// An attached terminal does not detach the session's own. After the session's own is detached, a
// hang-up does nothing any more.
func TestDetachElsewhere(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."))
	c := pt.Terminal(t, server)
	s, ended := inShell(t, "bash", c, "")
	s.Expect("> ")
	a := teletype.Start(t, pt.Attaches(c))
	a.Expect("> ")
	a.Line("/detach")
	a.Expect("Ctrl-D detaches this terminal")
	s.Line("/detach")
	s.Expect("detached; the session goes on")
	back(s)
	a.Expect("> ")         // it goes on: a shell that is hung up terminates stopped jobs
	s.Line("kill -HUP $$") // which the shell passes on
	s.Exit()
	a.Line("begin")
	a.Expect("One.")
	a.Expect("> ")
	a.Line("/quit")
	a.Expect("the session has ended")
	a.Exit()
	ended()
}

// A stopped session is listed as one that does not answer, and goes on in its shell.
func TestStoppedIsLive(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	s, ended := inShell(t, "bash", c, "")
	s.Expect("> ")
	is := func(want string) {
		t.Helper()
		if got := live(t, c); len(got) != 1 || got[0] != want {
			t.Errorf("live: %q, want %s", got, want)
		}
	}
	for len(live(t, c)) == 0 { // its socket is made beside the prompt
	}
	is("waiting for a prompt")
	s.Send("\x1a")
	s.Expect("Stopped")
	back(s)
	is("not answering")
	s.Line("gemline attach 1")
	s.Expect("does not answer: it may be stopped")
	s.Line("fg")
	s.Match(`\n> $`)
	s.Line("/quit")
	ended()
	s.Line("exit")
	s.Exit()
}
