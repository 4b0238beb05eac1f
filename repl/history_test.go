package repl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func historyIn(t *testing.T, path string) (HistoryConfig, *[]string) {
	var told []string
	return HistoryConfig{Path: path, Session: func() string { return "s1" }, Warn: func(s string) { told = append(told, s) },
		Now: func() time.Time { return time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC) }}, &told
}

// What another program has written is read, kept and added to.
func TestPromptHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "project", "logs.json")
	c, told := historyIn(t, path)
	h := PromptHistory(c)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Error("something was made before it was needed")
	}
	h.Add("first <b>")
	h.Add(" \n")
	h.Add("two\nlines ")
	h.Add("two\nlines")
	want := []string{"first <b>", "two\nlines"}
	if got := h.Entries(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "[\n  {\n    \"sessionId\": \"s1\",\n    \"messageId\": 1,") && !strings.Contains(string(b), `"message": "first <b>"`) {
		t.Errorf("%s", b)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	other := `[{"sessionId":"x","messageId":7,"type":"user","message":"later","timestamp":"2027-01-01T00:00:00.000Z","more":[1]},
		{"type":"model","message":"no input"}, 3,
		{"sessionId":"x","messageId":6,"type":"user","message":"sooner","timestamp":"2020-01-01T00:00:00.000Z"}]`
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	h = PromptHistory(c)
	h.Add("new")
	if got, want := h.Entries(), []string{"sooner", "later", "new"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var all []map[string]any
	b, _ = os.ReadFile(path)
	if err := json.Unmarshal([]byte(strings.Replace(string(b), "3,", "", 1)), &all); err != nil || len(all) != 4 || all[0]["more"] == nil {
		t.Errorf("%v: %s", err, b)
	}
	if len(*told) > 0 {
		t.Error(*told)
	}
}

// A file that is none stays what it is, and the session goes on.
func TestHistoryUnusable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.json")
	c, told := historyIn(t, path)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := PromptHistory(c)
	h.Add("a")
	h.Add("b")
	if got := h.Entries(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
	if b, _ := os.ReadFile(path); string(b) != "{" {
		t.Errorf("the file is now %q", b)
	}
	if len(*told) != 1 || !strings.Contains((*told)[0], "move it away") {
		t.Errorf("told %q", *told)
	}
}

func TestHistoryWithoutAPlace(t *testing.T) {
	h := PromptHistory(HistoryConfig{})
	h.Add("a")
	if got := h.Entries(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q", got)
	}
}

// What looks like a key is remembered, but not written down.
func TestHistoryOfSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.json")
	c, _ := historyIn(t, path)
	h := PromptHistory(c)
	key := "my key is AIza" + strings.Repeat("x", 35)
	h.Add(key)
	if got := h.Entries(); !slices.Equal(got, []string{key}) {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("it was written down")
	}
}

// Programs that add at the same time lose nothing of each other's.
func TestHistoryTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.json")
	var wg sync.WaitGroup
	const programs, each = 4, 8
	for p := range programs {
		c, told := historyIn(t, path)
		h := PromptHistory(c)
		wg.Go(func() {
			for i := range each {
				h.Add(fmt.Sprint(p, " ", i))
			}
			if len(*told) > 0 {
				t.Error(*told)
			}
		})
	}
	wg.Wait()
	c, _ := historyIn(t, path)
	if got := PromptHistory(c).Entries(); len(got) != programs*each {
		t.Errorf("%d entries: %q", len(got), got)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".logs.json.*")); len(files) > 0 {
		t.Errorf("left over: %q", files)
	}
}

func TestCommandHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shell_history")
	c, _ := historyIn(t, path)
	if err := os.WriteFile(path, []byte("ls\nfor i in 1; do\\\n  echo\\\ndone\n\nlast"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := CommandHistory(c)
	want := []string{"ls", "for i in 1; do\n  echo\ndone", "last"}
	if got := h.Entries(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	h.Add("a\nb")
	if got := CommandHistory(c).Entries(); !slices.Equal(got, append(want, "a\nb")) {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for i := range mostCommands + 5 {
		h.Add(fmt.Sprint(i))
	}
	if got := CommandHistory(c).Entries(); len(got) != mostCommands || got[0] != "5" {
		t.Errorf("%d entries, the first is %q", len(got), got[0])
	}
}

func TestHistories(t *testing.T) {
	shell := false
	p, s := PromptHistory(HistoryConfig{}), CommandHistory(HistoryConfig{})
	h := Histories(p, s, func() bool { return shell })
	h.Add("question")
	h.Add("!ls")
	h.Add("!")
	shell = true
	h.Add("pwd")
	if got := h.Entries(); !slices.Equal(got, []string{"ls", "pwd"}) {
		t.Errorf("commands: %q", got)
	}
	shell = false
	if got := h.Entries(); !slices.Equal(got, []string{"question", "!ls", "!"}) {
		t.Errorf("prompts: %q", got)
	}
}

// Whatever a file holds, what is added to it can be read again.
func FuzzHistory(f *testing.F) {
	f.Add([]byte(`[{"type":"user","message":"a"}]`), "b\\\nc")
	f.Add([]byte("a\\\nb"), "c")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		c, _ := historyIn(t, "x")
		if text = strings.TrimSpace(strings.ToValidUTF8(text, "")); text == "" {
			return
		}
		if out, err := (promptFormat{c}).append(b, text); err == nil {
			if got, err := (promptFormat{c}).read(out); err != nil || !slices.Contains(got, text) {
				t.Errorf("prompts: %q, %v", got, err)
			}
		}
		if strings.ContainsAny(text, "\\\r") {
			return
		}
		out, err := (shellFormat{}).append(b, text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := (shellFormat{}).read(out); len(got) == 0 || !strings.HasSuffix(got[len(got)-1], text) {
			t.Errorf("commands: %q of %q", got, out)
		}
	})
}
