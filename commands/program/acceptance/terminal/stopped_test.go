package terminal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session whose program is killed, wherever that was, can be gone on with:
// what was said is there, and every call has its answer.
func TestKilledSession(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		reply et.Reply
		until string
	}{
		{"while the model thinks", et.Stalled(et.Streams("Hm. ")), "Hm."},
		{"at a question", pt.Work()[1], pt.Asking},
	} {
		for _, term := range []string{"dumb", "xterm"} {
			t.Run(test.name+" "+term, func(t *testing.T) {
				server := et.NewServer(et.Says("Noted."), test.reply, et.Says("Seven."))
				c := pt.Terminal(t, server)
				c.Term = term
				s := teletype.Start(t, c)
				s.Say("remember seven")
				s.Expect("done:")
				s.Say("clean up")
				s.Expect(test.until)
				s.Signal(syscall.SIGKILL)
				s.Exit()
				again := c
				again.Args = append(slices.Clone(again.Args), "--resume")
				s = teletype.Start(t, again)
				s.Say("which number?")
				s.Expect("Seven.")
				s.Say("/quit")
				s.Exit()
				pt.CheckTurns(t, server.Requests()[2].Contents(), "remember seven", "Noted.", "which number?")
				if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
					t.Errorf("what was asked about was done: %v", err)
				}
			})
		}
	}
}

// Keys that stop a turn stop it wherever it is, and the next one is whole.
func TestKeysThatStop(t *testing.T) {
	t.Parallel()
	call := func(command string) et.Reply {
		return et.Says("", et.Call("", "run_shell_command", "command", command))
	}
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(et.Unavailable(), call("echo begun; sleep 100"), call("rm notes.txt"), call("rm notes.txt"), et.Says("The last."))
			c := pt.Terminal(t, server)
			c.Term = term
			s := teletype.Start(t, c)
			for _, step := range []struct{ line, until, answer, then string }{
				{"wait", "(503 UNAVAILABLE); ", "", ""},
				{"run", pt.Asking, "y", "  begun\r\n"},
				{"ask", pt.Asking, "", ""},
				{"half an answer", pt.Asking, "yes", "yes"},
				{"!echo begun; sleep 100", "begun\r\n", "", ""},
				{"at !{echo begun; sleep 100}", pt.Asking, "y", "  begun\r\n"},
			} {
				s.Say(step.line)
				s.Expect(step.until)
				if step.then != "" {
					if s.Send(step.answer); step.answer == "y" {
						s.Send("\r")
					}
					s.Expect(step.then)
				}
				s.Send("\x03")
				if strings.HasPrefix(step.line, "!") { // the command gets the key
					s.Expect("SIGINT")
					continue
				}
				s.Expect("ancelled")
			}
			s.Say("and now?")
			s.Expect("The last.")
			s.Say("/quit")
			s.Exit()
			requests := pt.Streamed(server)
			if len(requests) != 5 {
				t.Fatalf("%d requests", len(requests))
			}
			pt.CheckTurns(t, requests[4].Contents(), "and now?")
			if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
				t.Errorf("what was not allowed was done: %v", err)
			}
		})
	}
}
