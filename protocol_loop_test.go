//go:build unix

package main

import (
	"testing"

	et "gemline/engine/enginetest"
)

// A program that talks is asked whether a model that goes in circles is to go on: yes, and
// then no.
func TestTalkLoop(t *testing.T) {
	t.Parallel()
	s := et.NewServer()
	s.Respond = func(et.Received) et.Reply { return et.Says("", et.Call("", "list_directory", "dir_path", ".")) }
	c := talk(t, t.TempDir(), s)
	c.say("look around")
	c.want("error", "severity", "warning", "message", "the model goes in circles, and is told so: list ., 5 times with the same result")
	for _, decision := range []string{"allow", "deny"} {
		r := c.want("approval_request", "tool_name", "list_directory", "title", "go on all the same?", "args/dir_path", ".")
		c.send(record{"type": "approval", "id": r["id"], "decision": decision})
	}
	c.want("tool_result", "status", "cancelled")
	c.want("turn_result", "status", "error", "exit_code", 69, "termination_reason", "loop", "stats/tool_calls", 12)
	c.finish(69, "loop")
}
