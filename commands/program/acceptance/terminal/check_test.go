//go:build unix

package terminal

import (
	"testing"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"

	pt "gemline/commands/program/acceptance/programtest"
)

// In a session a check looks like a call; the done line says how it went. Ctrl-C stops it
// with all that it has started.
func TestCheckInASession(t *testing.T) {
	t.Parallel()
	edit := func(from, to string) et.Reply {
		return et.Says("", et.Call("", "replace", "file_path", "greeting.txt", "instruction", "spell", "old_string", from, "new_string", to))
	}
	server := et.NewServer(edit("wrld", "wird"), et.Says("Done."), edit("wird", "world"), et.Says("Mended."), edit("world", "stay"), et.Says("Done."))
	c := pt.Terminal(t, server, "-y", "--check", `grep -q stay greeting.txt && { echo waiting; sleep 60; }; grep world greeting.txt`)
	c.Term = "dumb"
	s := teletype.Start(t, c)
	s.Say("mend it")
	s.Expect("tool: check: grep -q stay")
	s.Expect("result: failed exit 1\r\n")
	s.Expect("gemini: Mended.")
	s.Expect("Hello, world.\r\nresult: ok\r\ndone: ")
	s.Expect(", 1 file changed, check ok in round 2")
	s.Say("and now stay")
	s.Expect("tool: check: grep -q stay")
	s.Send("\x03")
	s.Expect("done: cancelled, ")
	s.Say("/quit")
	pt.Succeeds(t, s)
	pt.Lint(t, s.Transcript(), teletype.Rules{Quiet: true})
}

// The check of a project is shown and asked about, once.
func TestCheckOfAProject(t *testing.T) {
	t.Parallel()
	spell := func(old, text string) et.Reply {
		return et.Says("", et.Call("", "replace", "file_path", "greeting.txt", "instruction", "spell", "old_string", old, "new_string", text))
	}
	server := et.NewServer(spell("wrld", "world"), et.Says("Done."), spell("world", "wrld"), et.Says("Done."))
	c := pt.Terminal(t, server, "-y")
	c.Term = "dumb"
	pt.Write(t, c.Dir, map[string]string{".gemini/settings.json": `{"check": "sh test.sh"}`, "test.sh": "echo tested\n"})
	for i := range 2 {
		s := teletype.Start(t, c)
		if i == 0 {
			s.Expect("permission: this project wants to run 1 command, which nobody has agreed to so far: ")
			s.Expect("check of the model's work, confined in any case:\r\n    sh test.sh\r\n")
			s.Expect("file test.sh:\r\n    echo tested\r\n")
			s.Expect("1, 2, 3 or Enter for not now: ")
			s.Line("1")
		}
		s.Say("mend it")
		s.Expect("tool: check: sh test.sh\r\n")
		s.Expect("check ok")
		s.Say("/quit")
		pt.Succeeds(t, s)
	}
}
