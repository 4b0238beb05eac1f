package sessions

import (
	"os"
	"path/filepath"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Where no other session can begin, this one goes on, with what was granted in it.
func TestClearThatFails(t *testing.T) {
	t.Parallel()
	touch := et.Says("", et.Call("", "run_shell_command", "command", "touch a"))
	plans := et.Says("", et.Call("", "write_file", "file_path", "plan.md", "content", "# Aim\n"))
	c := pt.Terminal(t, et.NewServer(touch, et.Says("Made."), touch, et.Says("Made again."), plans, et.Says("Planned.")))
	system := filepath.Join(t.TempDir(), "system.md")
	if err := os.WriteFile(system, []byte("Be brief."), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "GEMINI_SYSTEM_MD="+system)
	s := teletype.Start(t, c)
	s.Say("one")
	s.Expect(pt.Asking)
	s.Line("a")
	s.Expect("Made.")
	s.Expect("> ")
	if err := os.Remove(system); err != nil {
		t.Fatal(err)
	}
	s.Line("/clear")
	s.Expect("system.md")
	s.Say("two")
	s.Expect("Made again.")
	s.Say("/mode plan")
	s.Expect("approval mode: plan")
	s.Line("three")
	s.Expect("Planned.")
	s.Say("/plan")
	s.Expect("# Aim")
	s.Say("/quit")
	s.Exit()
}
