//go:build unix

package protocol

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
	"gemline/tools/sandbox"
)

// The client sees which rule would be kept and for how long, and decides that.
func TestTalkScope(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(pt.Runs("1", "touch a"), et.Says("1."), pt.Runs("2", "touch b"), et.Says("2."), pt.Runs("3", "echo x >c"), et.Says("3."))
	c := pt.Talk(t, dir, s)
	c.Say("go")
	r := c.Want("approval_request", "grants", "[always this command always \"touch ...\"]",
		"rules/0/scopes", "[session project]", "rules/1/scopes", "[session project user]", "rules/1/rule", "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"touch\"]\ndecision = \"allow\"\npriority = 950\n")
	for _, wrong := range []pt.Record{
		{"decision": "always", "scope": "ever"},
		{"decision": "allow", "scope": "user"},
		{"decision": "always", "network": true},
		{"decision": "allow", "network": true, "args": pt.Record{}},
	} {
		wrong["type"], wrong["id"] = "approval", r["id"]
		c.Send(wrong)
		c.Want("error", "severity", "error")
	}
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "always", "grant": 1, "scope": "project"})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result")
	c.Say("more")
	if next := c.Next(); next["type"] == "approval_request" {
		t.Error("asked again")
	}
	c.Want("turn_result")
	c.Say("and more")
	r = c.Want("approval_request", "rules/0/scopes", "[session]")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "always", "scope": "user"})
	c.Want("error", "message", "line 9: this can't be kept for longer than the session; leave out project or user; the question is still open")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("turn_result")
	c.Finish(42, "input")
	kept, err := filepath.Glob(filepath.Join(dir, "home", ".gemini", "policies", "projects", "*.toml"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if text, _ := os.ReadFile(kept[0]); !strings.Contains(string(text), `commandPrefix = ["touch"]`) {
		t.Errorf("kept: %s", text)
	}
}

// The client may have a command run where it can only look, and is asked again
// about what it tried there.
func TestTalkReadOnly(t *testing.T) {
	t.Parallel()
	if !sandbox.New(sandbox.Options{}).State().RunsReadOnly {
		t.Skip("the kernel holds no command to looking here")
	}
	dir := t.TempDir()
	c := pt.Talk(t, dir, et.NewServer(pt.Runs("1", "touch a"), et.Says("Done.")))
	c.Say("go")
	r := c.Want("approval_request", "read_only_offered", "true")
	for _, wrong := range []pt.Record{{"decision": "always"}, {"decision": "allow", "args": pt.Record{}}, {"decision": "allow", "network": true}} {
		wrong["type"], wrong["id"], wrong["read_only"] = "approval", r["id"], true
		c.Send(wrong)
		c.Want("error", "severity", "error")
	}
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "read_only": true})
	r = c.Want("approval_request", "failed_read_only", "true", "failed_without", "it tried to write: a")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "read_only": true})
	c.Want("error", "severity", "error")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "deny"})
	c.Want("tool_result", "status", "error")
	c.Want("turn_result")
	c.Finish(42, "input")
}

// The script that the documentation points to keeps rules, too.
func TestTalkScopeInAScript(t *testing.T) {
	t.Parallel()
	pt.Need(t, "jq")
	path, err := filepath.Abs("docs/examples/protocol/say.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []string{"project", "user"} {
		t.Run(scope, func(t *testing.T) { talkInAScript(t, path, scope) })
	}
}

func talkInAScript(t *testing.T, path, scope string) {
	dir := t.TempDir()
	s := et.NewServer(pt.Runs("1", "touch made"), et.Says("Done."))
	t.Cleanup(s.Close)
	c := pt.Headless(t, s, dir, nil, nil)
	cmd := exec.Command("sh", path, "go")
	cmd.Dir, cmd.Env = dir, append(c.Env, "GEMLINE="+c.Path, "GEMINI_MODEL="+pt.Model, "TMPDIR="+t.TempDir(), "DECISION=always", "SCOPE="+scope)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); (err == nil) != (scope == "project") {
		t.Errorf("the command ran: %v", err == nil)
	}
	list := pt.Headless(t, s, dir, nil, nil, "policy", "list", "--json")
	list.Stdout = nil
	out, err := list.Output()
	var doc struct {
		Rules []struct{ File, About string }
	}
	if err != nil || json.Unmarshal(out, &doc) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := doc.Rules[0]
	if kept := strings.Contains(r.File, "/policies/projects/") && strings.Contains(r.About, "touch made"); kept != (scope == "project") {
		t.Errorf("%+v", r)
	}
}

// A decision that is none denies, in the clients, which say so and end: with the code of a
// line that could not be used.
func TestTalkNoDecision(t *testing.T) {
	t.Parallel()
	for script, tool := range map[string]string{"say.sh": "jq", "say.go": "go", "decide.py": "python3"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			pt.Need(t, tool)
			examples, err := filepath.Abs("docs/examples/protocol")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			pt.Write(t, dir, map[string]string{"decide.py": "import sys, say\ng = say.Gemline(decide=lambda r: {'decision': 'yes'})\nprint(*g.say(sys.argv[1]))\nsys.exit(g.close())\n"})
			s := et.NewServer(pt.Runs("1", "touch made"), et.Says("Not done."))
			t.Cleanup(s.Close)
			c := pt.Headless(t, s, dir, nil, nil)
			cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(examples, script), "go")
			switch script {
			case "say.go":
				cmd = exec.Command(built(t, filepath.Join(examples, script)), "go")
			case "decide.py": // who uses the class may be wrong about what it takes
				cmd = exec.Command("python3", script, "go")
			}
			cmd.Dir, cmd.Env = dir, append(c.Env, "GEMLINE="+c.Path, "GEMINI_MODEL="+pt.Model, "TMPDIR="+t.TempDir(), "DECISION=yes",
				"PYTHONPATH="+examples, "PYTHONDONTWRITEBYTECODE=1")
			b, _ := cmd.CombinedOutput()
			out := string(b)
			if code := cmd.ProcessState.ExitCode(); (code != 42 && script != "say.go") || code == 0 || !strings.Contains(out, "Not done.") ||
				!strings.Contains(out, `line 2: the decision must be allow, deny or always, not "yes"; the question is still open`) {
				t.Errorf("code %d: %s", code, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

// What a person is told at a terminal the client reads, too: whose call it is, what there is
// to know about it, and what may be changed of it.
func TestTalkDraft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := pt.Talk(t, dir, et.NewServer(et.Says("", et.Call("1", "write_file", "file_path", ".envrc", "content", "a\u200bb\n")), et.Says("Done.")))
	c.Say("go")
	r := c.Want("approval_request", "draft/name", ".envrc", "draft/text", "a\u200bb\n", "agent", nil, "server", nil, "facts/0/severity", "warning")
	if facts := fmt.Sprint(r["facts"]); !strings.Contains(facts, "control or invisible characters are shown as escapes") {
		t.Error(facts)
	}
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "text": "other\n", "args": pt.Record{}})
	c.Want("error", "severity", "error", "id", r["id"])
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow", "text": "other\n"})
	r = c.Want("approval_request", "draft/text", "other\n")
	c.Send(pt.Record{"type": "approval", "id": r["id"], "decision": "allow"})
	c.Want("tool_result", "status", "success")
	c.Want("turn_result")
	c.Finish(42, "input")
	if b, _ := os.ReadFile(filepath.Join(dir, ".envrc")); string(b) != "other\n" {
		t.Errorf("%q", b)
	}
}

// A turn that fails is said by the clients, which say the next text all the same.
func TestTalkFailedTurn(t *testing.T) {
	t.Parallel()
	for script, tool := range map[string]string{"say.sh": "jq", "say.py": "python3"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			pt.Need(t, tool)
			path, err := filepath.Abs("docs/examples/protocol/" + script)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			s := et.NewServer(et.BadRequest("No such thing."), et.Says("Fine."))
			t.Cleanup(s.Close)
			c := pt.Headless(t, s, dir, nil, nil)
			cmd := exec.Command(map[string]string{"jq": "sh", "python3": "python3"}[tool], path, "one", "two")
			cmd.Dir, cmd.Env = dir, append(c.Env, "GEMLINE="+c.Path, "GEMINI_MODEL="+pt.Model, "TMPDIR="+t.TempDir())
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "No such thing.") || !strings.Contains(string(out), "Fine.") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
