package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/engine"
)

// A name is the title and what --resume takes. Other programs show it as the summary.
func TestNamed(t *testing.T) {
	f := newFile(t, testID)
	if err := f.SetName("kept until there is a file"); err != nil {
		t.Fatal(err)
	}
	put(t, f, engine.Entry{Content: user("q")}, engine.Entry{Content: model("a")})
	dir := filepath.Dir(f.Path())
	check := func(title, name, summary string) {
		t.Helper()
		list, err := List(dir)
		if err != nil || len(list) != 1 || list[0].Title != title || list[0].Name != name || list[0].Summary != summary {
			t.Errorf("%+v, %v", list, err)
		}
	}
	check("kept until there is a file", "kept until there is a file", "kept until there is a file")
	before, _ := List(dir)
	if err := f.SetName("Parser work"); err != nil {
		t.Fatal(err)
	}
	check("Parser work", "Parser work", "Parser work")
	after, _ := List(dir)
	if !before[0].Updated.Equal(after[0].Updated) {
		t.Error("naming a session is no work in it")
	}
	if s, err := Find(after, "parser WORK"); err != nil || s.ID != testID {
		t.Errorf("%v, %v", s.ID, err)
	}
	if err := f.SetName(""); err != nil {
		t.Fatal(err)
	}
	check("q", "", "")
	f.Close()
	list, _ := List(dir)
	if err := Summarize(list[0], "About\na question"); err != nil {
		t.Fatal(err)
	}
	check("About a question", "", "About a question")
	if names, _ := filepath.Glob(filepath.Join(dir, ".session-*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestName(t *testing.T) {
	sessions := []Session{{ID: "aaa", Name: "Parser"}, {ID: "bbb"}}
	for _, c := range []struct{ typed, want, problem string }{
		{"  my\n work ", "my work", ""},
		{"parser", "", "session 1 is called so already"},
		{"aaa", "", "session 1 is called so already"},
		{"bbb", "bbb", ""}, // its own id
		{"7", "", "can't be a name"},
		{"Latest", "", "can't be a name"},
		{"\x1b", "", "letters or digits"},
		{strings.Repeat("x", 200), strings.Repeat("x", 97) + "...", ""},
	} {
		name, err := Name(sessions, "bbb", c.typed)
		if name != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %q, %v", c.typed, name, err)
		}
	}
}

// Who holds a session is told, as far as it has said so.
func TestHolder(t *testing.T) {
	host, _ := os.Hostname()
	path := filepath.Join(t.TempDir(), "lock")
	since := time.Now().Add(-time.Hour)
	for _, c := range []struct{ content, want string }{
		{string(LockHolder{PID: 7, Since: since, Host: host, Terminal: "/dev/pts/3"}.lines()),
			"session x is in use by process 7 since " + since.Format("2006-01-02 15:04") + ", at /dev/pts/3"},
		{string(LockHolder{PID: 7, Since: since, Host: "elsewhere"}.lines()),
			"session x is in use by process 7 since " + since.Format("2006-01-02 15:04") + ", on elsewhere"},
		{"7\n", "session x is in use by process 7"},
		{"", "session x is in use by another process"},
		{"-1\nnonsense", "session x is in use by another process"},
		{"7\n\n\n\x1b[31mred", "session x is in use by process 7 at [31mred"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := &BusyError{ID: "x", LockHolder: readHolder(path)}
		if got := err.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
