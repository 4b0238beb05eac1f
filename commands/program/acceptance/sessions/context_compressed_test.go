//go:build unix

package sessions

import (
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Ctrl-C ends the wait for a summary, and the conversation is what it was.
func TestCompressionInterrupted(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("It is 4711."), et.Says("Tea."), et.Silent(), et.Says("Still here."))
	s := teletype.Start(t, pt.Terminal(t, server))
	s.Say("what is the port?")
	s.Say("and what do I drink?")
	s.Say("/compress")
	s.Expect("info: compressing the conversation, about ")
	for range 3 {
		<-server.Arrived()
	}
	s.Send("\x03")
	s.Say("what now?")
	s.Expect("Still here.")
	s.Say("/quit")
	s.Exit()
	requests := server.Requests()
	body := string(requests[len(requests)-1].Body)
	if !strings.Contains(body, "It is 4711.") || strings.Contains(body, "state_snapshot") {
		t.Errorf("the last request was %s", body)
	}
}
