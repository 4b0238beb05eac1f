//go:build unix

package protocol

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A program that talks is asked whether another model may answer: yes, and then no.
func TestTalkModel(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.DailyQuota(), et.Says("Hello.").With(3, 1), et.DailyQuota())
	c := pt.Talk(t, t.TempDir(), s, "-m", "gemini-2.5-pro")
	for _, decision := range []string{"allow", "deny"} {
		c.Say("hi")
		r := c.Want("approval_request", "tool_name", "model", "args/asked", "gemini-3.8-flash", "args/instead_of", "gemini-2.5-pro")
		c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": decision})
		if decision == "allow" {
			c.Want("retry", "model", "gemini-3.8-flash", "restart", false)
			c.Want("turn_result", "status", "success", "stats/models/gemini-3.8-flash/total_tokens", 4)
		}
	}
	c.Want("turn_result", "status", "error", "exit_code", 67)
	c.Finish(67, "quota")
}
