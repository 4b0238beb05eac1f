package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"

	pt "gemline/commands/program/acceptance/programtest"
)

// What was granted and spent ends with a conversation; the model, the approval
// mode and the directories are those of the next one, whose file names them.
func TestClearBeginsASession(t *testing.T) {
	t.Parallel()
	touch := et.Says("", et.Call("", "run_shell_command", "command", "touch a"))
	server := et.NewServer(touch, et.Says("Made."), touch, et.Says("Made again."))
	c := pt.Terminal(t, server, "--max-tool-calls", "1")
	also := t.TempDir()
	s := teletype.Start(t, c)
	s.Say("/directory add " + also)
	s.Expect("added: ")
	s.Line("/model gemini-2.5-pro")
	s.Expect("model: gemini-2.5-pro")
	s.Line("one")
	s.Expect(pt.Asking)
	s.Line("a")
	s.Expect("Made.")
	s.Say("/clear")
	s.Expect("A new session begins")
	s.Line("two")
	s.Expect(pt.Asking)
	s.Line("y")
	s.Expect("Made again.")
	s.Say("/quit")
	s.Exit()

	for i, r := range server.Requests() {
		if !strings.Contains(r.Path, "gemini-2.5-pro") {
			t.Errorf("request %d went to %s", i+1, r.Path)
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(c.Dir), "home/.gemini/tmp/*/chats/session-*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Fatalf("sessions: %v, %v", files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), `"directories":["`+also) {
			t.Errorf("%s does not name the directory:\n%s", f, b)
		}
	}
}

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

// Whoever leaves right after it is not told to go on with a conversation in
// which nothing was said, since that has no file.
func TestClearLeavesNothingToGoOnWith(t *testing.T) {
	t.Parallel()
	s := teletype.Start(t, pt.Terminal(t, et.NewServer(et.Says("Hello.").With(5, 2))))
	s.Say("hi")
	s.Expect("Hello.")
	s.Say("/clear")
	s.Expect("A new session begins")
	s.Say("/quit")
	s.Exit()
	if said := string(s.Transcript()); strings.Contains(said, "go on with") {
		t.Errorf("there is nothing to go on with:\n%s", said)
	}
}
