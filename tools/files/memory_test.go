package files

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A finder has something to say about each directory once.
type finder struct {
	said  map[string]bool
	asked []string
}

func (f *finder) find(path string) (string, []string) {
	f.asked = append(f.asked, filepath.Base(path))
	dir := filepath.Base(filepath.Dir(path))
	if f.said[dir] {
		return "", nil
	}
	f.said[dir] = true
	return "rules of " + dir, []string{"a warning about " + dir}
}

// hearing is a Host that keeps what is shown.
type hearing struct {
	*et.Approver
	notices []string
}

func (h *hearing) Emit(ev engine.Event) {
	if n, ok := ev.(engine.Notice); ok {
		h.notices = append(h.notices, n.Text)
	}
}

func TestWithMemory(t *testing.T) {
	p := newPlace(t, map[string]string{"a/x.txt": "x", "a/y.txt": "y", "b/p.png": png, "b/q.txt": "q", "c/e.txt": ""})
	f := &finder{said: map[string]bool{}}
	h := &hearing{Approver: et.NewApprover(t)}
	ts := WithMemory(p.ts.List(), f.find)
	arguments := func(text string) (args map[string]any) {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			t.Fatal(err)
		}
		return args
	}
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"file_path":"a/x.txt"}`, "x\n\n--- Newly Discovered Project Context ---\nrules of a\n--- End Project Context ---"},
		{"read_file", `{"file_path":"a/y.txt"}`, "y"},
		{"read_file", `{"file_path":"b/none.txt"}`, ""},
		{"read_file", `{"file_path":"b/p.png"}`, ""},
		{"glob", `{"pattern":"b/*.txt"}`, "b/q.txt"},
		{"replace", `{"file_path":"b/q.txt","instruction":"","old_string":"q","new_string":"Q"}`, "rules of b"},
		{"read_file", `{"file_path":"c/e.txt"}`, "\n\n--- Newly Discovered Project Context ---\nrules of c\n--- End Project Context ---"},
		{"write_file", `{"file_path":"d/f.txt","content":"f"}`, "rules of d"},
		{"list_directory", `{"dir_path":"a"}`, "rules of ws"},
	} {
		for _, tool := range ts.Tools() {
			if tool.Name() != c.tool {
				continue
			}
			call, err := tool.Prepare(t.Context(), arguments(c.args))
			var r engine.Result
			if err == nil {
				r, err = call.Run(context.Background(), h)
			}
			if got := p.Short(r.Text); !strings.Contains(got, c.want) || !strings.Contains(c.want, "rules") && strings.Contains(got, "Newly") {
				t.Errorf("%s %s: %q, %v", c.tool, c.args, got, err)
			}
			if strings.Contains(r.Display, "rules of") {
				t.Errorf("%s %s shows %q", c.tool, c.args, r.Display)
			}
		}
	}
	if got := strings.Join(h.notices, ", "); got != "a warning about a, a warning about b, a warning about c, a warning about d, a warning about ws" {
		t.Errorf("warnings: %s", got)
	}
	if got := strings.Join(f.asked, " "); got != "x.txt y.txt q.txt e.txt f.txt a" {
		t.Errorf("asked about %s", got)
	}
}
