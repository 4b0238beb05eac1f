package terminal

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// steering has a terminal's settings take hints.
func steering(t *testing.T, c teletype.Command) {
	t.Helper()
	pt.Write(t, filepath.Join(filepath.Dir(c.Dir), "home"), map[string]string{".gemini/settings.json": `{"experimental": {"modelSteering": true}}`})
}

// What is typed while the model works is said at once, and is the next prompt.
func TestQueued(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, term, emacs, before string }{
		{name: "dumb", term: "dumb"}, {name: "xterm", term: "xterm-256color"},
		{"ansi-term", "eterm-color", "28.2,term:0.96", ""}, {"comint", "dumb", "28.2,comint", "stty -echo; "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(et.Says("One."))
			server := et.NewServer(first, et.Says("Two."), et.Says("Three."))
			c := pt.Terminal(t, server)
			if c.Term = tt.term; tt.emacs != "" {
				c.Env = append(c.Env, "INSIDE_EMACS="+tt.emacs)
			}
			c.Path, c.Args = "/bin/sh", append([]string{"-c", tt.before + `exec "$0" "$@"`, c.Path}, c.Args...)
			s := teletype.Start(t, c)
			s.Say("begin")
			<-g.Asked
			s.Line("and then\x1b[D\x1b[D this")
			s.Expect("queued: and then this\r\n")
			s.Line("and that")
			s.Expect("queued: and that\r\n")
			close(g.Open)
			for i, line := range []string{"and then this", "and that", ""} {
				s.Expect([]string{"One.", "Two.", "Three."}[i])
				if s.Expect("> "); line != "" && tt.name != "xterm" { // where it stands between escapes
					s.Expect(line + "\r\ngemini: ")
				}
			}
			pt.Leave(t, s, teletype.Rules{Smart: tt.name == "xterm", Quiet: true})
			sent := pt.Streamed(server)
			if n := len(sent); n != 3 || !bytes.Contains(sent[1].Body, []byte(`{"text":"and then`)) || !bytes.Contains(sent[2].Body, []byte(`{"text":"and that"}`)) {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A line that is queued behind a Ctrl-D is sent: the session goes on, as the user was told.
func TestQueuedBehindEnd(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			first, one := pt.Gated(et.Says("One."))
			second, two := pt.Gated(et.Says("Two."))
			server := et.NewServer(first, second, et.Says("Three."), et.Says("Four."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("begin")
			<-one.Asked
			s.Send("\x04")
			s.Line("and then this")
			s.Expect("queued: and then this\r\n")
			s.Send("\x04") // when it comes, there is something to do
			close(one.Open)
			<-two.Asked
			s.Line("and that")
			s.Expect("queued: and that\r\n")
			s.Line("and more")
			s.Expect("queued: and more\r\n")
			s.Send("\x04")
			close(two.Open)
			s.Expect("Four.")
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if n := len(pt.Streamed(server)); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// A hint goes with the next request, in the same turn, and is in the session.
func TestHint(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(et.Says("", et.Call("1", "read_file", "file_path", "notes.txt")))
			server := et.NewServer(first, et.Says("I read it aloud."))
			c := pt.Terminal(t, server)
			c.Term = term
			steering(t, c)
			s := teletype.Start(t, c)
			s.Say("read the notes")
			<-g.Asked
			s.Line("aloud, please")
			s.Expect("hint for the next request: aloud, please\r\n")
			close(g.Open)
			s.Expect("the model is told: aloud, please\r\n")
			s.Expect("I read it aloud.")
			s.Say("/history")
			s.Expect("- aloud, please")
			s.Expect("> ")
			pt.Leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true})
			sent := pt.Streamed(server)
			if len(sent) != 2 || !bytes.Contains(sent[1].Body, []byte(`- aloud, please`)) {
				t.Errorf("the hint was not sent: %d requests", len(sent))
			}
		})
	}
}

// A hint that no request follows is the next prompt.
func TestHintTooLate(t *testing.T) {
	t.Parallel()
	first, g := pt.Gated(et.Says("One."))
	server := et.NewServer(first, et.Says("Two."))
	c := pt.Terminal(t, server)
	steering(t, c)
	s := teletype.Start(t, c)
	s.Say("begin")
	<-g.Asked
	s.Line("mind the gap")
	s.Expect("hint for the next request: mind the gap\r\n")
	close(g.Open)
	s.Expect("gemini: One.\r\ninfo: queued, since it was too late for a hint: mind the gap\r\n")
	s.Expect("> mind the gap\r\n")
	s.Expect("Two.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	pt.CheckPaste(t, server, "begin", "mind the gap")
}

// A hint that came too late is sent, also if the user has typed Ctrl-D behind it.
func TestHintBeforeEnd(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			first, g := pt.Gated(et.Says("One."))
			c := pt.Terminal(t, et.NewServer(first, et.Says("Two.")))
			c.Term = term
			steering(t, c)
			s := teletype.Start(t, c)
			s.Say("begin")
			<-g.Asked
			s.Line("mind the gap")
			s.Expect("hint for the next request: mind the gap\r\n")
			s.Send("\x04")
			close(g.Open)
			s.Expect("Two.")
			if code := s.Exit(); code != 0 {
				t.Errorf("exit %d", code)
			}
		})
	}
}

// A hint of a turn that is stopped waits for Enter, and nothing else is said of it.
func TestHintStopped(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			server := et.NewServer(et.Stalled(et.Streams("This takes ", "for ever. ")), et.Says("Two."))
			c := pt.Terminal(t, server)
			c.Term = term
			steering(t, c)
			s := teletype.Start(t, c)
			s.Say("begin")
			s.Expect("for ever.")
			s.Line("mind the gap")
			s.Expect("hint for the next request: mind the gap\r\n")
			s.Send("\x03")
			s.Expect("cancelled")
			s.Expect("mind the gap")
			s.Send("\r")
			s.Expect("Two.")
			s.Expect("> ")
			if seen := pt.Leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true}); strings.Contains(seen, "too late") {
				t.Errorf("%q", seen)
			}
		})
	}
}

// What was queued survives a Ctrl-C and an error: it is said, and Enter sends it.
func TestQueuedAndStopped(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		for _, how := range []string{"stop", "error"} {
			t.Run(term+"/"+how, func(t *testing.T) {
				t.Parallel()
				reply := et.Stalled(et.Streams("This takes ", "for ever. "))
				var g pt.Gate
				if how == "error" {
					reply, g = pt.Gated(et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"code":400,"message":"bad luck","status":"INVALID_ARGUMENT"}}`}})
				}
				server := et.NewServer(reply, et.Says("Two."))
				c := pt.Terminal(t, server)
				c.Term = term
				s := teletype.Start(t, c)
				s.Say("begin")
				if how == "error" {
					<-g.Asked
				} else {
					s.Expect("for ever.")
				}
				s.Line("go on then")
				s.Expect("queued: go on then\r\n")
				if how == "error" {
					close(g.Open)
					s.Expect("bad luck")
				} else {
					s.Send("\x03")
					s.Expect("cancelled")
					s.Expect("\r\n")
				}
				if term == "dumb" {
					s.Expect("typed before the " + how + " and not sent; Enter alone sends it: go on then\r\n> ")
				} else {
					s.Expect("go on then")
				}
				s.Send("\r")
				s.Expect("Two.")
				s.Expect("> ")
				pt.Leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true})
				sent := pt.Streamed(server)
				if !strings.Contains(string(sent[len(sent)-1].Body), `{"text":"go on then"}`) {
					t.Errorf("it was not sent: %s", sent[len(sent)-1].Body)
				}
			})
		}
	}
}
