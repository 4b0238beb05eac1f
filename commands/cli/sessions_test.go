package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gemline/engine/journal"
	"gemline/settings/project"
)

func TestEntries(t *testing.T) {
	at := time.Date(2026, 11, 20, 11, 58, 0, 0, time.UTC)
	b, err := json.Marshal(Entries([]journal.Session{{ID: "51c623e0-1", Title: "first question", Updated: at, Messages: 4}}))
	want := `[{"index":1,"id":"51c623e0-1","title":"first question","startTime":"0001-01-01T00:00:00Z","lastUpdated":"2026-11-20T11:58:00Z","messageCount":4,"path":""}]`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	if b, _ := json.Marshal(Entries(nil)); string(b) != "[]" {
		t.Errorf("none: %s", b)
	}
}

// Only a list for programs reads long sessions whole: it has the counts of their messages.
func TestListOfLongSessions(t *testing.T) {
	home := t.TempDir()
	here := &Folder{Paths: project.New(home, "", home)}
	store, err := here.Paths.Register(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"sessionId":"51c623e0-1","projectHash":"h","startTime":"2026-11-20T21:46:38Z","lastUpdated":"2026-11-20T21:46:38Z","kind":"main"}` + "\n"
	for i := range 200 {
		lines += fmt.Sprintf(`{"id":"q%d","type":"user","content":"question %[1]d"}`+"\n"+
			`{"id":"a%[1]d","type":"gemini","content":"%s"}`+"\n", i, strings.Repeat("answer ", 2000))
	}
	if err := os.MkdirAll(store.Chats(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store.Chats(), "session-1.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	err = (&sessionsList{}).Run(context.Background(), &Output{Out: io.Discard, Notify: func(string) {}}, here)
	runtime.ReadMemStats(&is)
	if took := is.TotalAlloc - was.TotalAlloc; err != nil || took > uint64(len(lines))/2 {
		t.Errorf("it took %d bytes of memory to list a session of %d, %v", took, len(lines), err)
	}
	var b strings.Builder
	err = (&sessionsList{}).Run(context.Background(), &Output{Out: &b, JSON: true, Notify: func(string) {}}, here)
	if err != nil || !strings.Contains(b.String(), `"messageCount": 400`) {
		t.Errorf("%s, %v", b.String(), err)
	}
}
