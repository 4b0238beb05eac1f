package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

// session returns the lines of a session of the given minute.
func session(id string, minute int, more ...string) []string {
	at := fmt.Sprintf("2026-11-20T21:%02d:00Z", minute)
	return append([]string{fmt.Sprintf(`{"sessionId":%q,"projectHash":"h","startTime":%q,"lastUpdated":%q,"kind":"main"}`, id, at, at)}, more...)
}

func ask(text string) string {
	b, _ := json.Marshal(map[string]any{"id": text, "type": "user", "content": []map[string]string{{"text": text}}})
	return string(b)
}

const reply = `{"id":"r","type":"gemini","content":"ok"}`

func TestList(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, lines ...string) { write(t, dir, name, lines...) }
	put("session-b.jsonl", session("bbb", 52, ask("second\n\x1b[31m question"), reply)...)
	put("session-a.jsonl", session("aaa", 51, ask("<session_context>"), ask("/help"), ask("first question"), reply)...)
	put("session-a2.jsonl", session("aaa", 51, ask("<session_context>here"))...) // left by a start
	put("session-c.jsonl", session("ccc", 53, ask("told by the summary"), `{"$set":{"summary":"A summary","lastUpdated":"2026-11-20T22:00:00Z"}}`)...)
	put("session-d.jsonl", session("ddd", 54, reply)...)
	put("session-e.jsonl", session("eee", 55, ask("taken back"), `{"$rewindTo":"taken back"}`)...)
	put("session-f.jsonl", session("fff", 56, ask("/help"), ask("<hook_context>x"), ask("?"), `{"id":"x","type":"gemini","content":"","thoughts":[]}`)...)
	put("session-g.jsonl", strings.Replace(session("ggg", 57)[0], "main", "subagent", 1), ask("an agent"))
	put("session-h.jsonl", "nonsense")
	put("session-i.jsonl", session("../i", 57, ask("q"))...)
	put("session-old.json", strings.Replace(oldForm, "51c623e0-1", "old", 1))
	put("other.jsonl", session("zzz", 1, ask("q"))...)
	put("session-b-copy.jsonl", session("bbb", 52, ask("older copy"), `{"$set":{"lastUpdated":"2026-01-01T00:00:00Z"}}`)...)
	os.Mkdir(filepath.Join(dir, "session-dir.jsonl"), 0o700)
	os.Symlink("/dev/zero", filepath.Join(dir, "session-link.jsonl"))

	if bad := strings.Join(Damaged(dir), "\n"); strings.Count(bad, "\n") != 1 || !strings.Contains(bad, "session-h.jsonl is not used: it is damaged") || !strings.Contains(bad, "session-i.jsonl is not used") {
		t.Errorf("damaged: %s", bad)
	}
	ss, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range ss {
		got = append(got, fmt.Sprintf("%s %d %s", s.ID, s.Messages, s.Title))
	}
	want := []string{"old 2 hi", "aaa 2 first question", "bbb 2 second [31m question", "ccc 1 A summary", "ddd 1 (no question)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sessions (-want +got):\n%s", d)
	}
	if ss[3].Updated.Hour() != 22 || ss[3].Start.Minute() != 53 {
		t.Errorf("times %v and %v", ss[3].Start, ss[3].Updated)
	}
	after, _ := os.ReadDir(dir)
	if len(after) != 15 {
		t.Errorf("%d files are left of 15", len(after))
	}
	if ss, err := List(filepath.Join(dir, "missing")); ss != nil || err != nil {
		t.Errorf("a missing directory: %v, %v", ss, err)
	}
	if _, err := List(filepath.Join(dir, "other.jsonl")); err == nil {
		t.Error("a file was listed as a directory")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "session-2026-11-20T21-46-51c623e0.jsonl", session("51c623e0-1", 46)...)
	for id, want := range map[string]bool{"51c623e0-1": true, "51c623e0-2": false, "x": false} {
		o, err := Open(Config{Dir: dir}, OpenOptions{ID: id})
		if (err != nil) != want {
			t.Errorf("files of %q: %v", id, err)
		}
		if err == nil {
			o.File.Close()
		}
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{"mine": true, "51c623e0-0000-4000-8000-000000000000": true, "A_1": true,
		"": false, "../etc": false, "a b": false, "é": false, "a.b": false, strings.Repeat("a", 129): false} {
		if validID(id) != want {
			t.Errorf("ValidID(%q) = %v", id, !want)
		}
	}
}

func TestTitle(t *testing.T) {
	long := strings.Repeat("é", 150)
	for in, want := range map[string]string{
		"  a\n\tb  ":     "a b",
		"a\x1b]0;x\x07b": "a ]0;x b",
		"a\u202eb\u200b": "ab",
		"\xff":           "\ufffd",
		long:             long[:2*97] + "...",
		"\n":             "",
	} {
		if got := title(in); got != want {
			t.Errorf("title(%q) = %q, want %q", in, got, want)
		}
	}
}

// A session that begins with a command of the user's is listed by that command.
func TestTitleOfCommand(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "session-a.jsonl", session("aaa", 51, ask(engine.ShellCommand+"sleep 5\n```\n\nThis produced the following result:\n```\n\n```"), reply)...)
	if ss, err := List(dir); err != nil || len(ss) != 1 || ss[0].Title != "!sleep 5" {
		t.Errorf("%+v, %v", ss, err)
	}
}

func TestFind(t *testing.T) {
	ss := []Session{{ID: "aaa"}, {ID: "2"}, {ID: "ccc"}}
	for _, c := range []struct {
		arg, want, err string
		in             []Session
	}{
		{"", "ccc", "", ss},
		{"latest", "ccc", "", ss},
		{"1", "aaa", "", ss},
		{" 3 ", "ccc", "", ss},
		{"2", "2", "", ss}, // an id comes before a number
		{"aaa", "aaa", "", ss},
		{"aa", "", `no session "aa": this project has 3`, ss},
		{"0", "", `no session "0": this project has 3`, ss},
		{"-1", "", `no session "-1": this project has 3`, ss},
		{"4", "", `no session "4": this project has 3`, ss},
		{"99999999999999999999", "", `no session "99999999999999999999"`, ss},
		{"2", "", `no session "2": this project has 1`, ss[:1]},
		{"1", "", `no session "1": this project has none`, nil},
		{"latest", "", "no previous sessions found for this project", nil},
	} {
		got, err := Find(c.in, c.arg)
		if got.ID != c.want || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("Find(%d sessions, %q) = %q, %v", len(c.in), c.arg, got.ID, err)
		}
		if nf := (*NotFoundError)(nil); err != nil && errors.As(err, &nf) == errors.Is(err, ErrNoSessions) {
			t.Errorf("%q: error is %T", c.arg, err)
		}
	}
	_, err := Find(ss, "x")
	if nf := (*NotFoundError)(nil); !errors.As(err, &nf) || !strings.Contains(nf.Hint(), "--list-sessions") {
		t.Errorf("the error is %q", err)
	}
}

func TestText(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ss := []Session{
		{ID: "51c623e0-1", Title: "first question", Updated: now.Add(-2 * time.Minute), Messages: 4},
		{ID: "3123f838-2", Title: "third", Updated: now.Add(-59 * time.Second)},
	}
	for i, want := range []string{"1. first question (2 minutes ago) [51c623e0-1]", "2. third (Just now, current) [3123f838-2]"} {
		if got := ss[i].Line(i+1, "3123f838-2", now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func BenchmarkListMany(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		id := fmt.Sprintf("many-%d", i)
		text := strings.Join(session(id, 1, ask("question"), reply, ask(strings.Repeat("long ", 2000))), "\n")
		if err := os.WriteFile(filepath.Join(dir, "session-"+id+".jsonl"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if ss, err := List(dir); err != nil || len(ss) != 1000 {
			b.Fatal(len(ss), err)
		}
	}
}
