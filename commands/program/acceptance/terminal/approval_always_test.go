package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"

	pt "gemline/commands/program/acceptance/programtest"
)

// An answer that is kept is shown as the rule that it becomes, holds from then
// on and in the next session, and can be taken back.
func TestAlwaysKept(t *testing.T) {
	t.Parallel()
	call := func(id, command string) et.Reply {
		return et.Says("I look.", et.Call(id, "run_shell_command", "command", command))
	}
	server := et.NewServer(call("1", "cp -v notes.txt one"), call("2", "cp -v greeting.txt two"), et.Says("Done."), call("3", "cp -v notes.txt three"), et.Says("Again."))
	c := pt.Terminal(t, server)
	s := teletype.Start(t, c)
	s.Say("count")
	s.Expect("y n w r a c e ? (a = always this command, c = always \"cp ...\"): ")
	s.Line("?")
	s.Expect("c project = the same, kept for this project, c user for all of them, as this rule:")
	s.Expect(`commandPrefix = ["cp"]`)
	s.Expect(pt.Asking)
	s.Line("c nobody")
	s.Expect("is none of the choices")
	s.Expect(pt.Asking)
	s.Line("c project")
	s.Expect("info: kept in ")
	s.Expect("Done.")
	s.Say("/quit")
	s.Exit()

	files, _ := filepath.Glob(filepath.Join(pt.HomeOf(c), ".gemini/policies/projects/*.toml"))
	if len(files) != 1 {
		t.Fatalf("kept in %q", files)
	}
	const want = "\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"cp\"]\ndecision = \"allow\"\npriority = 950\n"
	if b, _ := os.ReadFile(files[0]); !strings.HasPrefix(string(b), "# You said always to this in "+c.Dir) || !strings.HasSuffix(string(b), want) {
		t.Errorf("%s", b)
	}
	c.Args = append(c.Args, "-p", "count again", "-o", "stream-json")
	s = teletype.Start(t, c)
	s.Expect("Again.")
	s.Exit()
	if answer := pt.AnswerOf(t, server, "run_shell_command"); !strings.Contains(answer, "notes.txt") || strings.Contains(answer, "denied") {
		t.Errorf("the next session was told %s", answer)
	}
	c.Args = []string{"policy", "revoke", files[0] + ":2"}
	s = teletype.Start(t, c)
	s.Expect("taken back")
	s.Exit()
	if b, _ := os.ReadFile(files[0]); strings.Contains(string(b), "rule") {
		t.Errorf("left: %s", b)
	}
}

// Where other rules than the user's own hold, nothing can be kept, and that is
// what is said.
func TestAlwaysNotKept(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("I look.", et.Call("1", "run_shell_command", "command", "cp -v notes.txt one")), et.Says("Done."))
	c := pt.Terminal(t, server)
	rules := filepath.Join(t.TempDir(), "rules.toml")
	if err := os.WriteFile(rules, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Args = append(c.Args, "--policy", rules)
	s := teletype.Start(t, c)
	s.Say("count")
	s.Expect(pt.Asking)
	s.Line("a project")
	s.Expect("info: this can't be kept for longer than the session; leave out project or user\r\n")
	s.Expect(pt.Asking)
	s.Line("a")
	s.Expect("Done.")
	s.Say("/quit")
	s.Exit()
	if _, err := os.Stat(filepath.Join(pt.HomeOf(c), ".gemini", "policies")); err == nil {
		t.Error("something is kept")
	}
}
