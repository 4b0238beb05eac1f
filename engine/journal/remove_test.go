package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// shelfOf returns a shelf of sessions to which nothing else belongs.
func shelfOf(chats string) Storage {
	return Storage{Chats: chats, Dirs: func(string) []string { return nil }, Drop: func(string) error { return nil },
		Tidy: func() error { return nil }}
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"one-session", "one-session-more"} {
		f := New(Config{Dir: dir, ID: id, Now: clock()})
		if err := f.Record(engine.Entry{Content: genai.NewContentFromText("hello", genai.RoleUser)}); err != nil {
			t.Fatal(err)
		}
		if id == "one-session" {
			var busy *BusyError
			if err := shelfOf(dir).Remove(id); !errors.As(err, &busy) || busy.PID != os.Getpid() {
				t.Errorf("while it is in use: %v", err)
			}
		}
		f.Close()
	}
	agent := New(Config{Dir: dir, ID: "helper", Parent: "one-session", Now: clock()})
	if err := agent.Record(engine.Entry{Content: genai.NewContentFromText("find it", genai.RoleUser)}); err != nil {
		t.Fatal(err)
	}
	agent.Close()
	if err := os.WriteFile(filepath.Join(dir, "session-old.json"),
		[]byte(`{"sessionId":"one-session","projectHash":"x","messages":[{"id":"1","type":"user","content":"hi"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "elsewhere")); err != nil {
		t.Skip(err)
	}
	if err := shelfOf(dir).Remove("elsewhere"); err != nil {
		t.Error(err)
	}
	if err := shelfOf(dir).Remove("one-session"); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if sessions, err := List(dir); err != nil || len(sessions) != 1 || sessions[0].ID != "one-session-more" || len(left) != 2 {
		t.Errorf("left are %v and %q: %v", sessions, left, err)
	}
	if err := shelfOf(dir).Remove("../x"); err == nil {
		t.Error("a path is no id")
	}
}
