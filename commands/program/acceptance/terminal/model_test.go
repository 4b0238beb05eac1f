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

// scored returns how hard a prompt is, as the model says that is asked for auto.
func scored(n int) et.Reply {
	return et.Says(fmt.Sprintf(`{"complexity_reasoning":"so it is","complexity_score":%d}`, n)).With(100, 5)
}

// In a session with auto, which model answers is told when it changes. Where one has no quota
// left the user is asked, and what is said holds for the prompt or for the session.
func TestModelsInASession(t *testing.T) {
	t.Parallel()
	server := et.NewServer(scored(12), et.Says("Easy.").With(10, 3),
		scored(95), et.DailyQuota(), et.Says("Once.").With(10, 3),
		scored(96), et.DailyQuota(), et.Says("Always.").With(10, 3),
		et.Says("Still."),
		et.DailyQuota())
	c := pt.Terminal(t, server, "-m", "auto")
	c.Term, c.Cols = "dumb", 200
	s := teletype.Start(t, c)
	const (
		large    = "gemini-4-argon"
		small    = "gemini-3.8-flash"
		quota    = "the quota of requests per day is used up (429 RESOURCE_EXHAUSTED); "
		choices  = "y n a ? (a = " + small + " for the rest of the session): "
		question = "permission: " + large + ": " + quota + "let " + small + " answer?\r\n" + choices
		changed  = "warning: " + large + ": " + quota + small + " answers instead\r\n"
	)
	s.Expect(", model auto, in ")
	s.Say("hi")
	s.Expect("info: " + small + " answers\r\ngemini: Easy.")
	s.Say("design it")
	s.Expect("info: " + large + " answers\r\n" + question)
	s.Line("?")
	if got := s.Expect("y n a ?: "); strings.Contains(got, "the tool") || !strings.Contains(got, "info: y or yes = "+small+" answers this prompt\r\n"+
		"info: n, no, Enter or Ctrl-D = the prompt ends with the error\r\ninfo: a = "+small+" for the rest of the session\r\n") {
		t.Errorf("the question is explained as %q", got)
	}
	s.Line("y")
	s.Expect(changed + "gemini: Once.")
	s.Say("go on")
	s.Expect("info: " + large + " answers\r\n" + question)
	s.Line("a")
	s.Expect(changed + "gemini: Always.")
	s.Say("go on")
	if got := s.Expect("gemini: Still."); strings.Contains(got, "answers") {
		t.Errorf("nothing has changed, and it is told: %q", got)
	}
	s.Say("/model")
	s.Expect("model: auto; now " + small + "; /model list has all ")
	s.Expect("  1 auto: ")
	s.Expect("  4 flash-lite: ")
	s.Expect("which model? 1 to 4, Enter for no change: ")
	s.Line("")
	s.Say("/stats model")
	s.Expect("As utility_router: 3 requests, 300 tokens in, 15 out")
	s.Say("/model gemini-2.5-pro")
	s.Expect("model: gemini-2.5-pro\r\n")
	s.Say("go on")
	s.Expect("permission: gemini-2.5-pro: " + quota + "let " + small + " answer?\r\n" + choices)
	s.Line("n")
	s.Expect("error: the quota of requests per day is used up (429 RESOURCE_EXHAUSTED)\r\nhint: ")
	s.Say("/quit")
	pt.Succeeds(t, s)
	pt.Lint(t, s.Transcript(), teletype.Rules{Quiet: true})
}
