//go:build unix

package terminal

import (
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// The folder of a skill can be read while the skill is active: from when the user calls it
// to when it is switched off.
func TestSkillSwitchedOff(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	c := pt.Terminal(t, server)
	file := filepath.Join(pt.HomeOf(c), ".gemini", "skills", "mow", "how.md")
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/skills/mow/SKILL.md": "---\nname: mow\ndescription: How to mow.\n---\nSee how.md.", ".gemini/skills/mow/how.md": "Slowly."})
	replies := []et.Reply{et.Says("", et.Call("1", "read_file", "file_path", file)), et.Says("Read."), et.Says("", et.Call("2", "read_file", "file_path", file)), et.Says("Not read.")}
	server.Respond = func(et.Received) et.Reply {
		reply := replies[0]
		replies = append(replies[1:], et.Says("More."))
		return reply
	}
	s := teletype.Start(t, c)
	s.Say("/mow the lawn")
	s.Expect("Read.")
	s.Expect("> ")
	if got := pt.AnswerOf(t, server, "read_file"); !strings.Contains(got, "Slowly.") {
		t.Errorf("an active skill: %s", got)
	}
	s.Line("/skills disable mow --scope user")
	s.Expect("skill mow disabled")
	s.Expect("> ")
	s.Line("again")
	s.Expect("Not read.")
	s.Expect("> ")
	if got := pt.AnswerOf(t, server, "read_file"); strings.Contains(got, "Slowly.") {
		t.Errorf("one that is switched off: %s", got)
	}
	s.Line("/quit")
	pt.Succeeds(t, s)
}
