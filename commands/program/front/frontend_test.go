package front

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/commands"
	"gemline/commands/custom"
	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/project/projecttest"
	"gemline/commands/program/session"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/repl/fronttest"
	"gemline/repl/input"
)

// hold has an in-memory front end hold a conversation of p, begun as those of all
// front ends are.
func hold(t *testing.T, r *Run, p *project.Project, answers ...string) (*fronttest.Front, *frontend) {
	t.Helper()
	m, f := &fronttest.Front{Answers: answers, Tally: r.count}, newFrontend(r)
	if err := f.beginIn(t.Context(), p, project.SessionToOpen(f.opts), m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	app := f.commands(m, func(engine.Event) {})
	m.Run, m.Expand = f.say, input.Chain(commands.Step(app), f.references)
	return m, f
}

// A conversation is held without any terminal: calls are asked about, allowed once
// and for the session, and refused with a reason; /clear begins another, in which
// nothing is granted and nothing was spent; and the first one can be gone on with.
func TestFrontEndInMemory(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-p", "x")
	dir := t.TempDir()
	p := projecttest.Open(t, r.Options, dir, func(text string) { t.Log(text) })
	write := func(name string) et.Reply {
		return et.Says("", et.Call("1", "write_file", "file_path", name, "content", "text\n"))
	}
	touch := et.Says("", et.Call("1", "run_shell_command", "command", "touch made"))
	p.Model.Generator = et.NewScript(write("a.txt"), et.Says("Written.").With(10, 5),
		write("b.txt"), et.Says("Not written."),
		touch, et.Says("Made."), touch, et.Says("Made unasked."),
		touch, et.Says("Made again."), et.Says("I remember."))
	m, f := hold(t, r, p, "y", "n not that one", "a", "y")
	say := func(line, want string) {
		t.Helper()
		got, err := m.Say(t.Context(), line)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
	asked := func(want ...string) {
		t.Helper()
		if got := strings.Join(m.Asked, "; "); len(m.Asked) != len(want) || !containsAll(got, want) {
			t.Errorf("asked about %q; want %q", m.Asked, want)
		}
		m.Asked = nil
	}

	say("write a.txt", "Written.")
	asked("a.txt")
	say("write b.txt", "Not written.")
	asked("b.txt")
	for name, want := range map[string]bool{"a.txt": true, "b.txt": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := json.Marshal(f.session.Engine.History()); err != nil || !strings.Contains(string(b), "not that one") {
		t.Errorf("the model was not told why: %s, %v", b, err)
	}
	say("touch it", "Made.")
	asked("touch made")
	say("touch it", "Made unasked.")
	asked()
	say("/stats", "4 calls, 3 succeeded")

	first := f.session.Journal.File.ID()
	say("/clear", "A new session begins.")
	if f.session.Journal.File.ID() == first {
		t.Error("the conversation is the same")
	}
	say("/stats", "Models: none was asked yet.")
	say("touch it", "Made again.")
	asked("touch made")
	f.close()

	again, err := session.Begin(t.Context(), p, session.Config{Open: journal.OpenOptions{Resume: true, Selector: first}, Tally: ending.NewTally(), Approver: m})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	m.Run = again.Run
	say("what did we do?", "I remember.")
	if n := len(again.Engine.History()); n < 10 {
		t.Errorf("of the first conversation %d messages are left", n)
	}
}

// containsAll reports whether s holds each of list.
func containsAll(s string, list []string) bool {
	for _, one := range list {
		if !strings.Contains(s, one) {
			return false
		}
	}
	return true
}

// A command restricts the tools of the current conversation, also after /clear.
func TestRestrictedAfterClear(t *testing.T) {
	r := start(t, "--skip-trust", "--sandbox=off", "-y", "-p", "x")
	dir := t.TempDir()
	p := projecttest.Open(t, r.Options, dir, func(text string) { t.Log(text) })
	p.Model.Generator = et.NewScript(
		et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "text\n")), et.Says("Over."))
	m, f := hold(t, r, p)
	app := f.commands(m, func(engine.Event) {})
	m.Expand = input.Chain(commands.Step(app), f.references)
	if _, err := m.Say(t.Context(), "/clear"); err != nil {
		t.Fatal(err)
	}
	app.Customs.Narrow("issue", custom.Only{{Tool: "read_file"}})
	if _, err := m.Say(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); err == nil {
		t.Error("a tool was called that the command does not allow")
	}
}
