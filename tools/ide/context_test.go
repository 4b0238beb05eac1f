package ide

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"
)

// listening returns a Client that is connected to nothing and hears what a test says.
func listening(hidden func(string) bool) (c *Client, hear func(update string)) {
	c = New(Config{Hidden: hidden, Note: genai.NewPartFromText, Environment: Environment{Lookup: func(string) (string, bool) { return "", false }}})
	c.to = &link{}
	return c, func(update string) { c.notified(c.to, contextUpdate, json.RawMessage(update)) }
}

// state returns an update with these files.
func state(files string) string { return `{"workspaceState":{"openFiles":[` + files + `]}}` }

// A conversation is told all that is open, then what changes, and all again once its history
// has lost what it was told.
func TestNews(t *testing.T) {
	c, hear := listening(nil)
	var history []*genai.Content
	for _, step := range []struct {
		name, update, want string
		lose               func()
	}{
		{name: "nothing is known"},
		{name: "nothing is open", update: state("")},
		{name: "the first time", update: state(`{"path":"/p/b.go","timestamp":1,"isActive":true,"selectedText":"old"},
			{"path":"/p/a.go","timestamp":2,"isActive":true,"cursor":{"line":3,"character":7},"selectedText":"<x>"}`),
			want: `{"activeFile":{"path":"/p/a.go","cursor":{"line":3,"character":7},"selectedText":"<x>"},"otherOpenFiles":["/p/b.go"]}`},
		{name: "nothing new"},
		{name: "moved and selected", update: state(`{"path":"/p/b.go","timestamp":1},{"path":"/p/a.go","timestamp":2,"isActive":true,"cursor":{"line":4,"character":1}}`),
			want: `{"changes":{"cursorMoved":{"path":"/p/a.go","cursor":{"line":4,"character":1}},"selectionChanged":{"path":"/p/a.go","selectedText":""}}}`},
		{name: "another file", update: state(`{"path":"/p/c.go","timestamp":9,"isActive":true},{"path":"/p/a.go","timestamp":2}`),
			want: `{"changes":{"filesOpened":["/p/c.go"],"filesClosed":["/p/b.go"],"activeFileChanged":{"path":"/p/c.go"}}}`},
		{name: "none is active", update: state(`{"path":"/p/c.go","timestamp":9},{"path":"/p/a.go","timestamp":2,"isActive":true}`),
			want: `{"changes":{"activeFileChanged":{"path":null,"previousPath":"/p/c.go"}}}`},
		{name: "compressed", lose: func() { history = history[len(history)-1:] },
			want: `{"otherOpenFiles":["/p/c.go","/p/a.go"]}`},
		{name: "then a delta again", update: state(`{"path":"/p/c.go","timestamp":9}`), want: `{"changes":{"filesClosed":["/p/a.go"]}}`},
		{name: "the last one undone", lose: func() { history = history[:len(history)-1] }, want: `{"otherOpenFiles":["/p/c.go"]}`},
		{name: "all is closed", update: state(""), want: `{"changes":{"filesClosed":["/p/c.go"]}}`},
		{name: "another conversation", lose: func() { history = nil }},
	} {
		if step.update != "" {
			hear(step.update)
		}
		if step.lose != nil {
			step.lose()
		}
		part, got := c.ContextUpdate(history), ""
		if part != nil {
			history = append(history, genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser))
			_, block, _ := strings.Cut(part.Text, "\n```json\n")
			var v any
			if err := json.Unmarshal([]byte(strings.TrimSuffix(block, "\n```")), &v); err != nil {
				t.Fatal(err, part.Text)
			}
			got = canonical(t, v)
		}
		var want any
		if json.Unmarshal([]byte(step.want), &want); step.want != "" && got != canonical(t, want) || step.want == "" && got != "" {
			t.Errorf("%s: %s; want %s", step.name, got, step.want)
		}
	}
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What an editor says is bounded: ten files, so much of what is selected, and nothing of a
// file that may hold secrets.
func TestBounds(t *testing.T) {
	c, hear := listening(func(path string) bool { return strings.HasSuffix(path, ".env") })
	many := []string{`{"path":"/p/big","timestamp":1000,"isActive":true,"selectedText":"` + strings.Repeat("é", 20000) + `"}`}
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"path":"/p/%d","timestamp":%d}`, i, i))
	}
	hear(state(strings.Join(many, ",")))
	files := c.Status().Files
	if len(files) != 10 || files[0].Path != "/p/big" || files[1].Path != "/p/99" {
		t.Error(files)
	}
	if n := len([]rune(files[0].Text)); n != mostText+len(truncated) || !strings.HasSuffix(files[0].Text, "éé... [TRUNCATED]") {
		t.Error(n)
	}
	hear(state(`{"path":"/p/.env","timestamp":1,"isActive":true,"selectedText":"KEY=1"}`))
	if f := c.Status().Files; !f[0].Hidden || f[0].Text != "" {
		t.Error(f)
	}
	hear(state(`{"path":"relative.go","timestamp":3},{"path":"/p/` + strings.Repeat("x", 5000) + `","timestamp":2},{"path":7,"timestamp":"x"},{"path":"/p/a\u001b[2J","timestamp":1}`))
	if f := c.Status().Files; len(f) != 1 {
		t.Error(f)
	}
	if part := c.ContextUpdate(nil); strings.Contains(part.Text, "\x1b") {
		t.Errorf("%q", part.Text)
	}
}

// Whatever an editor says, nothing falls, and what the model reads is JSON in one block.
func FuzzNews(f *testing.F) {
	f.Add(state(`{"path":"/a","timestamp":1,"isActive":true,"cursor":{"line":1,"character":1},"selectedText":"x"}`), state(""))
	f.Add(`{"workspaceState":{"openFiles":[{"path":"/`+"```"+`\n"}],"isTrusted":false}}`, `[]`)
	f.Fuzz(func(t *testing.T, first, second string) {
		c, hear := listening(nil)
		var history []*genai.Content
		for _, update := range []string{first, second} {
			hear(update)
			part := c.ContextUpdate(history)
			if part == nil {
				continue
			}
			history = append(history, genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser))
			_, block, _ := strings.Cut(part.Text, "\n```json\n")
			if body, ok := strings.CutSuffix(block, "\n```"); !ok || !json.Valid([]byte(body)) {
				t.Errorf("%q", part.Text)
			}
			if c.ContextUpdate(history) != nil {
				t.Errorf("told twice: %q", update)
			}
		}
	})
}
