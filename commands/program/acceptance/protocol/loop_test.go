//go:build unix

package protocol

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A program that talks is asked whether a model that goes in circles is to go on: yes, and
// then no.
func TestTalkLoop(t *testing.T) {
	t.Parallel()
	s := et.NewServer()
	s.Respond = func(et.Received) et.Reply { return et.Says("", et.Call("", "list_directory", "dir_path", ".")) }
	c := pt.Talk(t, t.TempDir(), s)
	c.Say("look around")
	c.Want("error", "severity", "warning", "message", "the model goes in circles, and gets a warning: list ., 5 times with the same result")
	for _, decision := range []string{"allow", "deny"} {
		r := c.Want("approval_request", "tool_name", "list_directory", "title", "go on all the same?", "args/dir_path", ".")
		c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": decision})
	}
	c.Want("tool_result", "status", "cancelled")
	c.Want("turn_result", "status", "error", "exit_code", 69, "termination_reason", "loop", "stats/tool_calls", 12)
	c.Finish(69, "loop")
}
