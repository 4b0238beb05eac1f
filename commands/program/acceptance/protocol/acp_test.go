//go:build linux

package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// A told is what an editor was told by a session.
type told struct {
	Session  string
	Update   string `json:"sessionUpdate"`
	ID       string `json:"toolCallId"`
	Title    string
	Status   string
	Kind     string
	Mode     string          `json:"currentModeId"`
	Content  json.RawMessage // a block, or a list of what a call shows
	Entries  []struct{ Content, Status string }
	Commands []struct{ Name, Description string } `json:"availableCommands"`
	Places   []struct {
		Path string
		Line int
	} `json:"locations"`
	Meta struct {
		Output struct{ Data string }          `json:"terminal_output"`
		Exit   *struct{ ExitCode int }        `json:"terminal_exit"`
		Info   *struct{ TerminalID, Cwd any } `json:"terminal_info"`
	} `json:"_meta"`
}

// A stepped is what a step of the editor of commands/program/acceptance/testdata/acp gave.
type stepped struct {
	Result struct {
		SessionID string `json:"sessionId"`
		Stop      string `json:"stopReason"`
		Modes     *struct {
			Now string                   `json:"currentModeId"`
			All []struct{ ID, Name any } `json:"availableModes"`
		}
		Sessions []struct{ SessionID, Cwd, Title string }
	}
	Error *struct {
		Code    int
		Message string
	}
	All     []stepped
	Updates []told
	Asked   []struct {
		Options []struct{ OptionID, Name, Kind string }
		Call    told `json:"toolCall"`
	}
	Files []struct{ Read, Write string }
}

// text returns what was said in updates of a kind.
func (s stepped) text(update string) string {
	var b strings.Builder
	for _, u := range s.Updates {
		var c struct{ Text string }
		if u.Update == update && json.Unmarshal(u.Content, &c) == nil {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// said returns what the model has said.
func (s stepped) said() string { return s.text("agent_message_chunk") }

// of returns the updates of a kind.
func (s stepped) of(update string) (all []told) {
	for _, u := range s.Updates {
		if u.Update == update {
			all = append(all, u)
		}
	}
	return all
}

// a step of an editor.
type editorStep = map[string]any

// prompted returns a step that says something in the session of another step.
func prompted(session int, text string, more editorStep) editorStep {
	s := editorStep{"method": "session/prompt", "params": editorStep{"sessionId": fmt.Sprintf("#%d", session), "prompt": []editorStep{{"type": "text", "text": text}}}}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// edited begins an editor, which carries out steps, and returns what they gave. The first of
// that is of initialize.
func edited(t *testing.T, s *et.Server, dir, sdk string, can editorStep, steps []editorStep, flags ...string) []stepped {
	t.Helper()
	t.Cleanup(s.Close)
	errs := &bytes.Buffer{}
	client := editor(t, s, dir, sdk, can, steps, errs, flags...)
	out, err := client.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, errs.Bytes())
	}
	got := pt.Documents[stepped](t, out)
	if len(got) != len(steps)+1 {
		t.Fatalf("%d steps: %s%s", len(got), out, errs.Bytes())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s%s", out, errs.Bytes())
		}
	})
	return got
}

// editor returns the command of an editor.
func editor(t *testing.T, s *et.Server, dir, sdk string, can editorStep, steps []editorStep, errs io.Writer, flags ...string) *exec.Cmd {
	t.Helper()
	node, at := pt.Need(t, "node"), npmTest(t, sdk)
	serve := pt.Headless(t, s, dir, nil, errs, append([]string{"--skip-trust", "--acp"}, flags...)...)
	env := map[string]string{}
	for _, kv := range serve.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	where, _ := json.Marshal(map[string]any{"command": serve.Path, "args": serve.Args[1:], "env": env, "cwd": dir})
	able, _ := json.Marshal(can)
	script, _ := json.Marshal(steps)
	client := exec.Command(node, "commands/program/acceptance/testdata/acp/client.mjs", at, string(where), string(able), string(script))
	client.Stderr = errs
	return client
}

// npmTest returns where a package of npm is that tests use.
func npmTest(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	at := filepath.Join(cache, "gemline-tests", "mcp", "node_modules", filepath.FromSlash(name))
	if _, serr := os.Stat(at); err != nil || serr != nil {
		pt.Lack(t, serr)
	}
	return at
}

const (
	newSDK = "@agentclientprotocol/sdk"
	oldSDK = "@zed-industries/agent-client-protocol"
)

func begun(dir string) editorStep {
	return editorStep{"method": "session/new", "params": editorStep{"cwd": dir, "mcpServers": []any{}}, "until": "available_commands_update"}
}

// An editor works with gemline, by the SDK that most editors in TypeScript are made with, and
// by an old one: what is said, thought, asked, changed and planned is shown, its user allows
// a call, refuses one, and cancels a prompt.
func TestACP(t *testing.T) {
	t.Parallel()
	for _, sdk := range []string{newSDK, oldSDK} {
		t.Run(sdk, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pt.Write(t, dir, map[string]string{"notes.txt": "line one\nline two\n"})
			s := et.NewServer(
				et.Says("It is about lines."),
				et.Says("", et.Call("1", "replace", "file_path", "notes.txt", "old_string", "two", "new_string", "2", "instruction", "x")), et.Says("Edited."),
				et.Says("", et.Call("2", "write_file", "file_path", "new.txt", "content", "text\n")), et.Says("Left."),
				et.Says("", et.Call("3", "run_shell_command", "command", "touch never")),
				et.Says("", et.Call("4", "write_file", "file_path", "auto.txt", "content", "text\n")), et.Says("Done."))
			got := edited(t, s, dir, sdk, editorStep{}, []editorStep{
				begun(dir),
				{"method": "session/prompt", "params": editorStep{"sessionId": "#1", "prompt": []editorStep{
					{"type": "text", "text": "what is in "}, {"type": "resource_link", "name": "notes.txt", "uri": "file://" + dir + "/notes.txt"},
					{"type": "resource", "resource": editorStep{"uri": "file:///else/where.go#L1-2", "text": "func main() {}", "mimeType": "text/x-go"}},
					{"type": "resource", "resource": editorStep{"uri": "zed:///page", "blob": "JVBERi0=", "mimeType": "application/pdf"}},
					{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}}}},
				prompted(1, "edit", editorStep{"answers": []string{"allow_once"}}),
				prompted(1, "write", editorStep{"answers": []string{"reject_once"}}),
				prompted(1, "run", editorStep{"answers": []string{"cancel the prompt"}}),
				{"method": "session/set_mode", "params": editorStep{"sessionId": "#1", "modeId": "autoEdit"}},
				prompted(1, "write", nil),
			})
			checkEdited(t, got, dir)
			first := string(pt.Streamed(s)[0].Body)
			for _, want := range []string{`"what is in @\"` + dir + `/notes.txt\"[/else/where.go#L1-2][zed:///page]"`, "JVBERi0=", "line two", "func main() {}", "iVBORw0KGgo="} {
				if !strings.Contains(first, want) {
					t.Errorf("the first request lacks %s: %s", want, first)
				}
			}
		})
	}
}

// checkEdited checks what the steps gave.
func checkEdited(t *testing.T, got []stepped, dir string) {
	t.Helper()
	names := ""
	for _, c := range got[1].of("available_commands_update")[0].Commands {
		names += " " + c.Name
	}
	if !strings.Contains(names, " compress ") || strings.Contains(names, " quit ") {
		t.Errorf("commands:%s", names)
	}
	if m := got[1].Result.Modes; m == nil || m.Now != "default" || len(m.All) < 4 {
		t.Errorf("%+v", m)
	}
	for i, want := range map[int]string{2: "It is about lines.", 3: "Edited.", 4: "Left.", 7: "Done."} {
		if got[i].said() != want || got[i].Result.Stop != "end_turn" {
			t.Errorf("step %d: %q, %s", i, got[i].said(), got[i].Result.Stop)
		}
	}
	if got[5].Result.Stop != "cancelled" {
		t.Errorf("%+v", got[5])
	}
	if m := got[6].of("current_mode_update"); len(m) != 1 || m[0].Mode != "autoEdit" {
		t.Errorf("%+v", got[6])
	}
	if len(got[7].Asked) > 0 {
		t.Errorf("asked: %+v", got[7].Asked)
	}
	asked := got[3].Asked[0]
	var ids []string
	for _, o := range asked.Options {
		ids = append(ids, o.OptionID+" "+o.Kind)
	}
	if want := []string{"proceed_always allow_always", "proceed_always_2 allow_always", "proceed_once allow_once", "cancel reject_once"}; !slices.Equal(ids, want) {
		t.Errorf("options: %v", ids)
	}
	calls, ends := got[3].of("tool_call"), got[3].of("tool_call_update")
	if len(calls) != 1 || calls[0].Kind != "edit" || calls[0].Status != "pending" || calls[0].Title != "edit notes.txt" || len(calls[0].Places) == 0 ||
		calls[0].Places[0].Path != filepath.Join(dir, "notes.txt") || calls[0].Places[0].Line != 2 {
		t.Errorf("%+v", calls)
	}
	if last := ends[len(ends)-1]; last.ID != calls[0].ID || asked.Call.ID != last.ID || last.Status != "completed" {
		t.Errorf("%+v, %+v", last, asked.Call)
	}
	var diff []struct{ Type, Path, OldText, NewText string }
	if json.Unmarshal(asked.Call.Content, &diff); len(diff) == 0 || diff[0].Type != "diff" || diff[0].OldText != "line one\nline two\n" || diff[0].NewText != "line one\nline 2\n" {
		t.Errorf("%s", asked.Call.Content)
	}
	ends = got[4].of("tool_call_update")
	if last := ends[len(ends)-1]; last.Status != "failed" || !strings.Contains(string(last.Content), "refused") {
		t.Errorf("%+v", last)
	}
	for name, want := range map[string]bool{"new.txt": false, "never": false, "auto.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An editor that proxies files is asked for what its user has not saved, and writes; one that
// has terminals shows what programs print.
func TestACPFilesAndTerminals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes.txt")
	pt.Write(t, dir, map[string]string{"notes.txt": "saved\n"})
	s := et.NewServer(
		et.Says("", et.Call("1", "replace", "file_path", "notes.txt", "old_string", "typed", "new_string", "changed", "instruction", "x")), et.Says("Edited."),
		et.Says("", et.Call("2", "write_file", "file_path", "deep/new.txt", "content", "text\n")), et.Says("Written."),
		et.Says("", et.Call("3", "run_shell_command", "command", "printf 'a\\nb\\n'; exit 3")), et.Says("Ran."),
		et.Says("", et.Call("4", "write_todos", "todos", []any{map[string]any{"description": "one", "status": "completed"}, map[string]any{"description": "two", "status": "in_progress"}, map[string]any{"description": "three", "status": "blocked"}})), et.Says("Planned."))
	got := edited(t, s, dir, newSDK, editorStep{"fs": editorStep{"readTextFile": true, "writeTextFile": true}, "_meta": editorStep{"terminal_output": true}}, []editorStep{
		begun(dir),
		prompted(1, "edit", editorStep{"open": editorStep{notes: "typed, and not saved\n"}}),
		prompted(1, "write", nil),
		prompted(1, "run", nil),
		prompted(1, "plan", nil),
		{"method": "session/set_model", "params": editorStep{"sessionId": "#1", "modelId": "gemini-2.5-flash"}},
		{"method": "session/close", "params": editorStep{"sessionId": "#1"}},
		{"method": "session/load", "params": editorStep{"sessionId": "#1", "cwd": dir, "mcpServers": []any{}}},
	}, "--approval-mode", "yolo")
	if b, err := os.ReadFile(notes); string(b) != "changed, and not saved\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "deep", "new.txt")); string(b) != "text\n" {
		t.Errorf("%q, %v", b, err)
	}
	files := fmt.Sprint(got[2].Files, got[3].Files)
	if !strings.Contains(files, notes) || !strings.Contains(files, "{ "+filepath.Join(dir, "deep", "new.txt")+"}") {
		t.Errorf("%s", files)
	}
	printed, exit := "", -1
	for _, u := range got[4].Updates {
		printed += u.Meta.Output.Data
		if u.Meta.Exit != nil {
			exit = 1
		}
	}
	if printed != "a\r\nb\r\n" || exit != 1 {
		t.Errorf("%q, %d", printed, exit)
	}
	plan := got[5].of("plan")
	if len(plan) != 1 || fmt.Sprint(plan[0].Entries) != "[{one completed} {two in_progress} {three pending}]" || len(got[5].of("tool_call")) != 0 {
		t.Errorf("%+v", got[5].Updates)
	}
	if again := got[8].of("plan"); got[6].Error != nil || len(again) != 1 || fmt.Sprint(again[0].Entries) != fmt.Sprint(plan[0].Entries) || len(got[8].of("tool_call")) != 3 {
		t.Errorf("%+v, %+v", got[6].Error, got[8].Updates)
	}
	if ran := string(got[8].of("tool_call")[2].Content); !strings.Contains(ran, `a\nb\n`) {
		t.Errorf("what a failed command has printed is not shown again: %s", ran)
	}
}

// Several sessions go on at once, each in its own directory; of one, prompts are worked on in
// their order. A session that was closed is gone on with, and what was said in it is told
// again.
func TestACPSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"a/GEMINI.md": "This is a.", "b/GEMINI.md": "This is b."})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	s := et.NewServer()
	s.Respond = func(got et.Received) et.Reply { // by what was said last
		all := got.Contents()
		parts := all[len(all)-1].Parts
		return et.Says("heard " + parts[len(parts)-1].Text)
	}
	got := edited(t, s, dir, newSDK, editorStep{}, []editorStep{
		begun(a), begun(b),
		{"together": []editorStep{prompted(1, "one", nil), prompted(2, "two", nil), prompted(1, "three", nil)}},
		{"method": "session/close", "params": editorStep{"sessionId": "#1"}},
		prompted(1, "four", nil),
		{"method": "session/list", "params": editorStep{"cwd": a}},
		{"method": "session/load", "params": editorStep{"sessionId": "#1", "cwd": a, "mcpServers": []any{}}},
		prompted(1, "five", nil),
		{"method": "session/resume", "params": editorStep{"sessionId": "#2", "cwd": b, "mcpServers": []any{}}},
		{"method": "session/load", "params": editorStep{"sessionId": "1", "cwd": a, "mcpServers": []any{}}},
		{"method": "session/set_mode", "params": editorStep{"sessionId": "#2", "modeId": "plan"}},
	})
	of := func(i, session int) string {
		var b strings.Builder
		for _, u := range got[i].Updates {
			var c struct{ Text string }
			if u.Session == got[session].Result.SessionID && strings.HasSuffix(u.Update, "message_chunk") && json.Unmarshal(u.Content, &c) == nil {
				b.WriteString(c.Text + ".")
			}
		}
		return b.String()
	}
	for _, one := range got[3].All {
		if one.Result.Stop != "end_turn" {
			t.Errorf("%+v", one)
		}
	}
	for _, c := range []struct {
		step, session int
		want          string
	}{{3, 1, "heard one.heard three."}, {3, 2, "heard two."}, {7, 1, "one.heard one.three.heard three."}, {8, 1, "heard five."}} {
		if said := of(c.step, c.session); said != c.want {
			t.Errorf("step %d, session %d: %q", c.step, c.session, said)
		}
	}
	for i, want := range map[int]string{5: "there is no session", 9: "is open already", 10: `no session "1"`} {
		if e := got[i].Error; e == nil || !strings.Contains(e.Message, want) {
			t.Errorf("step %d: %+v", i, e)
		}
	}
	if l := got[6].Result.Sessions; len(l) != 1 || l[0].SessionID != got[1].Result.SessionID || l[0].Title != "one" || l[0].Cwd != a {
		t.Errorf("%+v", l)
	}
	if m := got[11].of("current_mode_update"); len(m) != 1 || m[0].Mode != "plan" {
		t.Errorf("%+v", got[11])
	}
	for _, r := range pt.Streamed(s) {
		if in := string(r.Body); strings.Contains(in, "This is a.") == strings.Contains(in, "This is b.") {
			t.Error("a session has heard of the other's directory")
		}
	}
}

// A session that a terminal has written is loaded by an editor, and the other way round.
func TestACPSharesSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"notes.txt": "the notes\n",
		".gemini/agents/teller.md": "---\nname: teller\ndescription: Tells.\ntools: [read_file]\n---\nYou tell.\n"})
	s := et.NewServer(
		et.Says("", et.Call("1", "read_file", "file_path", "notes.txt"), et.Call("2", "invoke_agent", "agent_name", "teller", "prompt", "tell")),
		et.Says("", et.Call("3", "complete_task", "result", "It is told.")), et.Says("They are notes."),
		et.Says("Still notes."), et.Says("Notes."))
	t.Cleanup(s.Close)
	errs := &bytes.Buffer{}
	if err := pt.Headless(t, s, dir, nil, errs, "--skip-trust", "--session", "shared", "-p", "what is in @notes.txt?").Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	got := edited(t, s, dir, newSDK, editorStep{}, []editorStep{
		{"method": "session/load", "params": editorStep{"sessionId": "shared", "cwd": dir, "mcpServers": []any{}}},
		{"method": "session/prompt", "params": editorStep{"sessionId": "shared", "prompt": []editorStep{{"type": "text", "text": "and now?"}}}},
	})
	if user, model := got[1].text("user_message_chunk"), got[1].said(); user != "what is in @notes.txt?" || model != "They are notes." {
		t.Errorf("%q, %q", user, model)
	}
	calls := got[1].of("tool_call")
	if len(calls) != 2 || calls[0].Kind != "read" || calls[0].Status != "completed" || !strings.Contains(string(calls[0].Content), "the notes") {
		t.Errorf("%+v", calls)
	}
	for _, c := range calls { // what was shown, without what the model reads around it
		if strings.Contains(string(c.Content), "Termination") || c.ID == "2" && !strings.Contains(string(c.Content), "It is told.") {
			t.Errorf("%s", c.Content)
		}
	}
	if got[2].said() != "Still notes." {
		t.Errorf("%+v", got[2])
	}
	if err := pt.Headless(t, s, dir, nil, errs, "--skip-trust", "--resume", "shared", "-p", "once more").Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	asked := string(pt.Streamed(s)[len(pt.Streamed(s))-1].Body)
	for _, want := range []string{"what is in @notes.txt?", "and now?", "Still notes.", "once more"} {
		if !strings.Contains(asked, want) {
			t.Errorf("the terminal's request lacks %q", want)
		}
	}
}

// An editor that dies in the middle of a question leaves nothing, and what it was asked about
// is not done.
func TestACPEditorDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "touch never")))
	t.Cleanup(s.Close)
	errs := &bytes.Buffer{}
	client := editor(t, s, dir, newSDK, editorStep{}, []editorStep{begun(dir), prompted(1, "run", editorStep{"answers": []string{"die"}})}, errs)
	if out, err := client.Output(); err != nil || !bytes.Contains(out, []byte("touch never")) {
		t.Fatalf("%v: %s%s", err, out, errs.Bytes())
	}
	et.Eventually(t, "no process is left", func() bool { return len(pt.Workers(dir)) == 0 })
	if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
		t.Error("it was done")
	}
}

// A client that somebody else has published works with gemline, as it is: it allows a change
// that it is asked about, and refuses another.
func TestACPClient(t *testing.T) {
	t.Parallel()
	node, at := pt.Need(t, "node"), npmTest(t, "acpx")
	for name, c := range map[string]struct{ answer, want string }{
		"allowed": {"--approve-all", "new\n"},
		"refused": {"--deny-all", "old\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := et.NewServer(et.Says("I write.", et.Call("1", "write_file", "file_path", "a.txt", "content", "new\n")), et.Says("That is all."))
			t.Cleanup(s.Close)
			dir := t.TempDir()
			pt.Write(t, dir, map[string]string{"a.txt": "old\n"})
			pt.Write(t, filepath.Join(dir, "home"), nil)
			serve := pt.Headless(t, s, dir, nil, nil, "--skip-trust", "--acp")
			client := exec.Command(node, filepath.Join(at, "dist", "cli.js"), "--agent", strings.Join(append([]string{serve.Path}, serve.Args[1:]...), " "),
				c.answer, "--cwd", dir, "--format", "json", "--timeout", "50", "exec", "write a.txt anew")
			client.Dir, client.Env = dir, append(serve.Env, "PATH="+os.Getenv("PATH"))
			out, err := client.CombinedOutput()
			if err != nil && name == "allowed" || !bytes.Contains(out, []byte("I write.")) {
				t.Fatalf("%v: %s", err, out)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != c.want {
				t.Errorf("the file holds %q: %s", b, out)
			}
		})
	}
}
