package journal

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// What was said in a file becomes the beginning of a session of its own, in
// either form of file; nothing else of it does.
func TestImport(t *testing.T) {
	const (
		opening = `{"id":"` + openingID + `","type":"user","content":"<session_context>theirs"}`
		hi      = `{"id":"q","type":"user","content":[{"text":"hi"}]}`
		done    = `{"id":"g","type":"gemini","content":"done"}`
	)
	for name, lines := range map[string][]string{
		"a.jsonl": {`{"sessionId":"theirs","projectHash":"x","kind":"main","directories":["/etc"]}`, opening, hi, `{"id":"i","type":"info","content":"noise"}`, done},
		"a.json":  {`{"sessionId":"theirs","projectHash":"x","directories":["/etc"],"messages":[` + opening + "," + hi + `,{"id":"i","type":"info","content":"noise"},` + done + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, dir := write(t, t.TempDir(), name, lines...), t.TempDir()
			before, _ := os.ReadFile(theirs)
			o, err := Open(Config{Dir: dir, ProjectHash: "ours", Now: clock()}, OpenOptions{Import: theirs})
			if err != nil {
				t.Fatal(err)
			}
			defer o.File.Close()
			const said = "user: hi\nmodel: done\n"
			if show(o.History) != said || o.Directories != nil || o.File.ID() == "theirs" {
				t.Errorf("%s, in %v", show(o.History), o.Directories)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 0 {
				t.Error("something is written before anything is said")
			}
			put(t, o.File, engine.Entry{Opening: true, Content: genai.NewContentFromText("<session_context>ours", genai.RoleUser)},
				engine.Entry{Content: genai.NewContentFromText("more", genai.RoleUser)})
			c := load(t, o.File.Path())
			if got := show(c.History); got != said+"user: more\n" || c.ID != o.File.ID() || c.ProjectHash != "ours" || c.Title != "hi" {
				t.Errorf("%+v: %s", c.Session, got)
			}
			b, _ := os.ReadFile(o.File.Path())
			if text := string(b); strings.Contains(text, "noise") || strings.Contains(text, "/etc") || !strings.Contains(text, `"Imported from `) {
				t.Error(text)
			}
			if after, _ := os.ReadFile(theirs); string(after) != string(before) {
				t.Error("their file has changed")
			}
		})
	}
	for _, text := range []string{"", "nothing", `{"a":1}`} {
		if _, err := Open(Config{Dir: t.TempDir(), Now: clock()}, OpenOptions{Import: write(t, t.TempDir(), "b.jsonl", text)}); err == nil {
			t.Errorf("%q is a session", text)
		}
	}
	if _, err := Open(Config{Dir: t.TempDir()}, OpenOptions{Import: "nowhere"}); err == nil {
		t.Error("what is not there is a session")
	}
}

// A file of the old form that has an opening message keeps what follows it.
func TestOldFormOpened(t *testing.T) {
	whole, _ := json.Marshal(map[string]any{"sessionId": testID, "projectHash": "x", "messages": []any{
		map[string]any{"id": openingID, "type": "user", "content": "<session_context>old"}, map[string]any{"id": "q", "type": "user", "content": "hi"},
		map[string]any{"id": "g", "type": "gemini", "content": "done"}}})
	f, err := load(t, write(t, t.TempDir(), "session-2026-11-20T21-46-51c623e0.json", string(whole))).resume(clock())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put(t, f, engine.Entry{Opening: true, Content: genai.NewContentFromText("<session_context>new", genai.RoleUser)},
		engine.Entry{Content: genai.NewContentFromText("more", genai.RoleUser)})
	if got := show(load(t, f.Path()).History); got != "user: hi\nmodel: done\nuser: more\n" {
		t.Error(got)
	}
}
