//go:build unix

package sessions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// live returns the states of the live sessions of c's home.
func live(t *testing.T, c teletype.Command) (states []string) {
	t.Helper()
	cmd := exec.Command(c.Path, "sessions", "--live", "--json")
	cmd.Dir, cmd.Env = c.Dir, c.Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var doc struct {
		Live []struct {
			ID, State string
			PID       int
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Live {
		states = append(states, s.State)
	}
	return states
}

// socketsOf returns the sockets in c's home.
func socketsOf(c teletype.Command) []string {
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(c.Dir), "home", ".gemini", "tmp", "*", "sockets", "*"))
	return all
}

// A question is answered from another terminal, by the words of the prompt, and the session
// goes on; what was printed since the prompt is shown there.
func TestAttach(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(pt.Removes("1"), et.Says("It is gone."), et.Says("Here I am."))
			c := pt.Terminal(t, server, "--sandbox=off")
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("remove the notes")
			s.Expect("run: rm notes.txt")
			s.Match(`y n [^\r\n]*: $`)
			a := teletype.Start(t, pt.Attaches(c))
			a.Expect("attached to the session in")
			a.Expect("remove the notes")
			a.Expect("run: rm notes.txt")
			a.Match(`y n [^\r\n]*: $`)
			a.Line("?")
			a.Expect("is called with these arguments")
			a.Match(`y n [^\r\n]*: $`)
			a.Line("y")
			a.Expect("answered at an attached terminal")
			a.Expect("It is gone.")
			s.Expect("answered at an attached terminal")
			s.Expect("It is gone.")
			a.Say("are you there?")
			a.Expect("Here I am.")
			s.Expect("are you there?")
			s.Expect("Here I am.")
			s.Expect("> ")
			a.Expect("> ")
			if got := live(t, c); len(got) != 1 || got[0] != "waiting for a prompt" {
				t.Errorf("live: %q", got)
			}
			a.Send("\x04")
			a.Expect("detached; the session goes on")
			if code := a.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			for _, one := range []*teletype.Session{s, a} {
				pt.Lint(t, one.Transcript(), teletype.Rules{Smart: term != "dumb", Quiet: true})
			}
			pt.Leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true})
			if left := socketsOf(c); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A session that began anew goes by its new id, also where one was attached to it before. One
// that is held is reached as the error says that says so. What is no terminal can't attach.
func TestAttachByName(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer(et.Says("Here I am.")))
	s := teletype.Start(t, c)
	s.Expect("> ")
	a := teletype.Start(t, pt.Attaches(c))
	a.Say("/clear")
	a.Expect("A new session begins.")
	a.Say("are you there?")
	a.Expect("Here I am.")
	a.Expect("> ")
	a.Send("\x04")
	words := strings.Fields(a.Match(`gemline attach [0-9a-f-]+ comes back`))
	a.Exit()
	id := words[len(words)-3]
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(c.Path, args...)
		cmd.Dir, cmd.Env = c.Dir, c.Env
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%q succeeds: %s", args, out)
		}
		return string(out)
	}
	if said := run("--resume", id, "-p", "x"); !strings.Contains(said, "hint: gemline attach "+id) {
		t.Error(said)
	}
	if said := run("attach", id); !strings.Contains(said, "gemline attach needs a terminal of its own") {
		t.Error(said)
	}
	again := c
	again.Args = []string{"attach", id}
	a = teletype.Start(t, again)
	a.Expect("> ")
	a.Line("/quit")
	a.Expect("the session has ended")
	a.Exit()
	s.Exit()
}

// Two attach at once: who answers first wins, and the other is told.
func TestTwoAttach(t *testing.T) {
	t.Parallel()
	server := et.NewServer(pt.Removes("1"), et.Says("It is gone."))
	c := pt.Terminal(t, server, "--sandbox=off")
	s := teletype.Start(t, c)
	s.Say("remove the notes")
	s.Match(`y n [^\r\n]*: $`)
	one, two := teletype.Start(t, pt.Attaches(c)), teletype.Start(t, pt.Attaches(c))
	one.Match(`y n [^\r\n]*: $`)
	two.Match(`y n [^\r\n]*: $`)
	two.Send("n")
	two.Expect("n")
	one.Line("y")
	two.Expect("answered at an attached terminal")
	two.Expect("It is gone.")
	one.Expect("It is gone.")
	s.Line("")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	for _, a := range []*teletype.Session{one, two} {
		a.Expect("the session has ended")
		a.Exit()
	}
}

// What is sent from another terminal while the model works is queued like what is typed, and
// Ctrl-C there stops the turn, also at a question.
func TestAttachToWork(t *testing.T) {
	t.Parallel()
	first, g := pt.Gated(et.Says("One."))
	server := et.NewServer(first, et.Says("Two."), et.Stalled(et.Streams("This takes ", "for ever. ")), pt.Removes("1"))
	c := pt.Terminal(t, server, "--sandbox=off")
	s := teletype.Start(t, c)
	s.Say("begin")
	<-g.Asked
	a := teletype.Start(t, pt.Attaches(c))
	a.Expect("you: begin")
	a.Line("and then")
	a.Expect("info: queued: and then")
	s.Expect("info: queued: and then")
	close(g.Open)
	for _, one := range []*teletype.Session{a, s} {
		one.Expect("One.")
		one.Expect("you: and then")
		one.Expect("Two.")
	}
	a.Say("go on")
	a.Expect("for ever.")
	a.Send("\x03")
	a.Expect("cancelled")
	s.Expect("cancelled")
	s.Expect("> ")
	a.Expect("> ")
	a.Send("\x03")
	a.Expect("Ctrl-D detaches; /quit ends the session")
	a.Expect("> ")
	a.Line("remove the notes")
	a.Match(`y n [^\r\n]*: $`)
	a.Send("\x03")
	a.Expect("cancelled")
	s.Expect("cancelled")
	s.Expect("> ")
	a.Expect("> ")
	a.Line("/quit")
	a.Expect("the session has ended")
	a.Exit()
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A session whose terminal goes away goes on where the settings say so: the question that
// comes up then is answered from another one.
func TestHangupDetaches(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(pt.Removes("1"))
			server := et.NewServer(first, et.Says("It is gone."))
			c := pt.Terminal(t, server, "--sandbox=off")
			c.Term = term
			pt.Write(t, filepath.Join(filepath.Dir(c.Dir), "home"), map[string]string{".gemini/settings.json": `{"general": {"onHangup": "detach"}}`})
			s := teletype.Start(t, c)
			s.Say("remove the notes")
			<-g.Asked
			s.HangUp()
			close(g.Open)
			a := teletype.Start(t, pt.Attaches(c))
			a.Match(`y n [^\r\n]*: $`)
			a.Line("y")
			a.Expect("It is gone.")
			a.Expect("> ")
			if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err == nil {
				t.Error("nothing was removed")
			}
			a.Line("/quit")
			a.Expect("the session has ended")
			a.Exit()
			if code := s.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// What a command of the user's prints is shown at all terminals. One that was typed at an
// attached terminal is not given the session's own.
func TestAttachCommand(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			c := pt.Terminal(t, et.NewServer())
			c.Term = term
			s := teletype.Start(t, c)
			s.Expect("> ")
			a := teletype.Start(t, pt.Attaches(c))
			a.Say("!echo fr''om; test -t 0 || echo no ter''minal; exit 3")
			for _, one := range []*teletype.Session{a, s} {
				one.Expect("from\r\n")
				one.Expect("no terminal\r\n")
				one.Expect("exited with code 3")
			}
			s.Say("!echo o''wn; test -t 0 && echo a ter''minal")
			for _, one := range []*teletype.Session{a, s} {
				one.Expect("own\r\n")
				one.Expect("a terminal\r\n")
			}
			a.Say("/quit")
			a.Expect("the session has ended")
			a.Exit()
			s.Exit()
		})
	}
}

// A killed session is not live, and its socket is taken away.
func TestKilledIsNotLive(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer(et.Says("One.")))
	s := teletype.Start(t, c)
	s.Say("begin")
	s.Expect("One.")
	s.Expect("> ")
	if got := live(t, c); len(got) != 1 {
		t.Fatalf("live: %q", got)
	}
	s.Signal(syscall.SIGKILL)
	s.Exit()
	for _, path := range socketsOf(c) {
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if got, left := live(t, c), socketsOf(c); len(got) > 0 || len(left) > 0 {
		t.Errorf("live: %q, left behind: %q", got, left)
	}
}

// A folder far down has a socket all the same.
func TestAttachFarDown(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("paths of sockets are short here")
	}
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	home := filepath.Join(filepath.Dir(c.Dir), strings.Repeat("deep/", 40), "home")
	pt.Write(t, home, nil)
	for i, v := range c.Env {
		if strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "GEMINI_CLI_HOME=") {
			c.Env[i] = v[:strings.IndexByte(v, '=')+1] + home
		}
	}
	s := teletype.Start(t, c)
	s.Expect("> ")
	a := teletype.Start(t, pt.Attaches(c))
	a.Expect("> ")
	a.Line("/quit")
	a.Expect("the session has ended")
	a.Exit()
	s.Exit()
}
