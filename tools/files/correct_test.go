package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/tools/toolstest"
	"gemline/tools/workspace"
)

// An edit whose text is not in the file is what another model says that it was meant to
// be; what it took is told, and the call has the arguments that it runs with.
func TestCorrectedEdit(t *testing.T) {
	const file = "func a() {\n\treturn 1\n}\n"
	answer := func(text string) et.Reply { return et.Says(text).With(100, 10) }
	for _, test := range []struct {
		name, path, old string
		reply           et.Reply
		holds           string // the file, after the call has run
		class           string // of the error of preparing it
		asked           int
	}{
		{"meant", "a.go", "return one", answer(`{"explanation":"","search":"return 1","replace":"return 2","noChangesRequired":false}`), "func a() {\n\treturn 2\n}\n", "", 1},
		{"not needed", "a.go", "return one", answer(`{"explanation":"it is\nthere","search":"","replace":"","noChangesRequired":true}`), "", "edit_no_change_llm_judgement", 1},
		{"wrong again", "a.go", "return one", answer(`{"explanation":"","search":"return 3","replace":"x","noChangesRequired":false}`), "", "edit_no_occurrence_found", 1},
		{"nothing said", "a.go", "return one", answer(`{"explanation":"","search":"","replace":"","noChangesRequired":false}`), "", "edit_no_occurrence_found", 1},
		{"no answer", "a.go", "return one", et.Reply{Err: errors.New("down")}, "", "edit_no_occurrence_found", 1},
		{"of a kind that is left alone", "a.JSON", "return one", et.Reply{}, "", "edit_no_occurrence_found", 0},
		{"a secret", ".env", "return one", et.Reply{}, "", "", 0},
		{"fits", "a.go", "return 1", et.Reply{}, "func a() {\n\treturn 2\n}\n", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, test.path)
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			var told []engine.Event
			script := et.NewScript(test.reply)
			ts := Tools{Workspace: ws, Correct: &Correction{Tell: func(ev engine.Event) { told = append(told, ev) },
				Asker: &oneshot.Asker{Generator: script, Presets: &preset.Table{}, Attempts: 1}}}
			args := map[string]any{"file_path": test.path, "instruction": "count up", "old_string": test.old, "new_string": "return 2"}
			call, err := ts.corrected(ts.replace()).Prepare(t.Context(), args)
			ce := &engine.CallError{}
			if errors.As(err, &ce); ce.Type != test.class {
				t.Errorf("preparing it: %v", err)
			}
			if n := len(script.Requests()); n != test.asked {
				t.Fatalf("%d questions, want %d", n, test.asked)
			}
			if test.asked > 0 {
				for _, part := range []string{"count up", test.old, "return 2", file, "exact match"} {
					if text := script.Requests()[0].Contents[0].Parts[0].Text; !strings.Contains(text, part) {
						t.Errorf("the question lacks %q", part)
					}
				}
			}
			if test.holds == "" {
				return
			}
			if test.asked > 0 && (call.Args["old_string"] != "return 1" || len(told) == 0) {
				t.Errorf("the call has %v; told is %v", call.Args, told)
			}
			if _, err := call.Run(t.Context(), &toolstest.Desk{}); err != nil {
				t.Fatal(err)
			}
			if b, _ := os.ReadFile(path); string(b) != test.holds {
				t.Errorf("the file holds %q", b)
			}
		})
	}
}
