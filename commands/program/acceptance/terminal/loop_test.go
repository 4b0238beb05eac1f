//go:build unix

package terminal

import (
	"fmt"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A model that goes in circles in a session is advised, and then the user is asked: once
// more, no, other words, never again. What repeats is shown in the line above.
func TestLoopInASession(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	look := et.Says("", et.Call("", "list_directory", "dir_path", "."))
	steps := 0
	server.Respond = func(r et.Received) et.Reply {
		steps++
		switch body := string(r.Body); {
		case r.Action == "generateContent" && strings.Contains(body, "unproductive_state"):
			return et.Says(`{"unproductive_state_analysis": "It gets nowhere.", "unproductive_state_confidence": 0.95}`)
		case strings.Contains(body, "take turns"):
			if steps%2 == 0 {
				return et.Says("", et.Call("", "glob", "pattern", "x*"))
			}
			return look
		case strings.Contains(body, "wander about"):
			return et.Says("", et.Call("", "glob", "pattern", fmt.Sprint(steps, "*")))
		case strings.Contains(body, "decide at last"):
			return et.Says(strings.Repeat("On second thoughts I would rather take the other road. ", 40))
		}
		if body := string(r.Body); strings.Contains(body, "read the notes instead") || strings.Count(body, `"functionResponse"`) > 40 {
			return et.Says("Fine.")
		}
		return look
	}
	c := pt.Terminal(t, server)
	c.Term = "dumb"
	s := teletype.Start(t, c)
	const (
		advised = "warning: the model goes in circles, and gets a warning: list ., 5 times with the same result\r\n"
		asked   = "warning: the model goes in circles: list ., 5 times with the same result\r\npermission: go on all the same?\r\n"
		choices = "y n a ? (a = go on, and never ask this session): "
	)
	s.Say("look around")
	s.Expect(advised)
	s.Expect(asked + choices)
	s.Line("?")
	s.Expect("the tool list_directory is called with these arguments:")
	s.Expect("info: n, no, Enter or Ctrl-D = the turn ends; words behind n are what the model is told instead\r\n")
	s.Expect("y n a ?: ")
	s.Line("y")
	s.Expect(asked + choices)
	s.Line("n")
	s.Expect("error: stopped: the model goes in circles: list ., 5 times with the same result\r\nhint: say what to do instead; ")
	s.Say("again")
	s.Expect(choices)
	s.Line("n read the notes instead")
	s.Expect("gemini: Fine.")
	s.Say("/clear")
	s.Say("look around")
	s.Expect(choices)
	s.Line("a")
	s.Expect("gemini: Fine.")
	for _, loop := range []struct{ prompt, what string }{
		{"take turns", "5 times with the same result"},
		{"decide at last", "the answer says again and again"},
		{"wander about", "It gets nowhere"},
	} {
		s.Say("/clear")
		s.Say(loop.prompt)
		s.Expect("warning: the model goes in circles, and gets a warning: ")
		if asked := s.Expect("permission: go on all the same?"); !strings.Contains(asked, loop.what) {
			t.Errorf("%s: %s", loop.prompt, asked)
		}
		s.Expect(choices)
		s.Line("n")
		s.Expect("error: stopped: the model goes in circles: ")
	}
	s.Say("/quit")
	pt.Succeeds(t, s)
	pt.Lint(t, s.Transcript(), teletype.Rules{Quiet: true})
}
