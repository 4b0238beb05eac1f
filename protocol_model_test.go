//go:build unix

package main

import (
	"testing"

	et "gemline/engine/enginetest"
)

// A program that talks is asked whether another model may answer: yes, and then no.
func TestTalkModel(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.DailyQuota(), et.Says("Hello.").With(3, 1), et.DailyQuota())
	c := talk(t, t.TempDir(), s, "-m", "gemini-2.5-pro")
	for _, decision := range []string{"allow", "deny"} {
		c.say("hi")
		r := c.want("approval_request", "tool_name", "model", "args/asked", "gemini-3.8-flash", "args/instead_of", "gemini-2.5-pro")
		c.send(record{"type": "approval", "id": r["id"], "decision": decision})
		if decision == "allow" {
			c.want("retry", "model", "gemini-3.8-flash", "restart", false)
			c.want("turn_result", "status", "success", "stats/models/gemini-3.8-flash/total_tokens", 4)
		}
	}
	c.want("turn_result", "status", "error", "exit_code", 67)
	c.finish(67, "quota")
}
