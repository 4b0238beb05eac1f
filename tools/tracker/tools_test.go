package tracker

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/toolstest"
)

// A taskDesk calls the tools of one tracker.
type taskDesk struct {
	t     *testing.T
	dir   string
	tools map[string]engine.Tool
}

func newTaskDesk(t *testing.T) *taskDesk {
	d := &taskDesk{t, filepath.Join(t.TempDir(), "tracker"), map[string]engine.Tool{}}
	for _, tool := range Tools(func() string { return d.dir }) {
		d.tools[strings.TrimPrefix(tool.Name(), "tracker_")] = tool
	}
	return d
}

// call returns what the model reads: the text, or the error.
func (d *taskDesk) call(name, args string) string {
	d.t.Helper()
	call, err := toolstest.Prepare(d.t, d.tools[name], args)
	if err != nil {
		return err.Error()
	}
	r, err := call.Run(d.t.Context(), &toolstest.Desk{})
	if err != nil {
		return err.Error()
	}
	return r.Text
}

// create makes a task, and returns its id.
func (d *taskDesk) create(args string) string {
	d.t.Helper()
	text := d.call("create_task", args)
	m := regexp.MustCompile(`^Created task ([0-9a-f]{6}): `).FindStringSubmatch(text)
	if m == nil {
		d.t.Fatalf("created: %q", text)
	}
	return m[1]
}

// Tasks are kept from call to call, closed in the order of what they depend on,
// and never depend on themselves.
func TestTracker(t *testing.T) {
	d := newTaskDesk(t)
	if got := d.call("list_tasks", `{}`); got != "No tasks found matching the criteria." {
		t.Errorf("at first: %q", got)
	}
	top := d.create(`{"title":"port","description":"all of it","type":"epic"}`)
	one := d.create(`{"title":"parse","description":"x","type":"task","parentId":"` + top + `"}`)
	two := d.create(`{"title":"it\ncrashes","description":"x","type":"bug","parentId":"` + top + `","dependencies":["` + one + `"]}`)
	name := strings.NewReplacer("TOP", top, "ONE", one, "TWO", two)
	for _, test := range []struct{ tool, args, want string }{
		{"create_task", `{"title":"x","description":"x","type":"task","parentId":"nope"}`, "Error: Task nope not found."},
		{"create_task", `{"title":"x","description":"x","type":"task","dependencies":["nope"]}`, "Error: Task nope not found."},
		{"create_task", `{"title":"x","description":"x","type":"story"}`, "params/type must be one of"},
		{"update_task", `{"id":"TWO","status":"closed"}`, "Error: Cannot close task TWO because dependency ONE is still open."},
		{"add_dependency", `{"taskId":"ONE","dependencyId":"ONE"}`, "Error: Task ONE cannot depend on itself."},
		{"add_dependency", `{"taskId":"ONE","dependencyId":"TWO"}`, "Error: Task ONE would depend on itself, by way of others."},
		{"add_dependency", `{"taskId":"TOP","dependencyId":"TWO"}`, "Linked TOP -> TWO."},
		{"update_task", `{"id":"nope"}`, "Error: Task nope not found."},
		{"update_task", `{"id":"../x","title":"x"}`, "Error: Task ../x not found."},
		{"update_task", `{"id":"ONE","status":"in_progress","title":"parse it"}`, "Updated task ONE. Status: in_progress"},
		{"list_tasks", `{"type":"bug"}`, "- [TWO] it crashes (open)"},
		{"list_tasks", `{"status":"closed"}`, "No tasks found matching the criteria."},
		{"visualize", `{}`, "Task Tracker Graph:\n⭕ TOP [EPIC] port\n  └─ Depends on: TWO\n  🚧 ONE [TASK] parse it\n  ⭕ TWO [BUG] it crashes\n    └─ Depends on: ONE"},
		{"update_task", `{"id":"ONE","status":"closed"}`, "Updated task ONE. Status: closed"},
		{"update_task", `{"id":"TWO","status":"closed"}`, "Updated task TWO. Status: closed"},
		{"get_task", `{"id":"nope"}`, "Task nope not found."},
		{"get_task", `{"id":"ONE"}`, "{\n  \"id\": \"ONE\",\n  \"title\": \"parse it\",\n  \"description\": \"x\",\n  \"type\": \"task\",\n  \"status\": \"closed\",\n  \"parentId\": \"TOP\",\n  \"dependencies\": []\n}"},
	} {
		if got := d.call(test.tool, name.Replace(test.args)); !strings.HasPrefix(got, name.Replace(test.want)) {
			t.Errorf("%s %s: %q", test.tool, test.args, got)
		}
	}
}

// A file that is no task is said; what a file says beyond what is known of a task
// stays when the task is changed.
func TestTrackerFiles(t *testing.T) {
	d := newTaskDesk(t)
	id := d.create(`{"title":"x","description":"x","type":"task"}`)
	path := filepath.Join(d.dir, id+".json")
	if err := os.WriteFile(path, []byte(`{"id":"`+id+`","title":"x","description":"x","type":"task","status":"open","dependencies":[],"metadata":{"a":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.call("update_task", `{"id":"`+id+`","status":"blocked"}`)
	if b, _ := os.ReadFile(path); !strings.Contains(string(b), `"a": 1`) || !strings.Contains(string(b), `"blocked"`) {
		t.Errorf("the file holds %s", b)
	}
	for _, bad := range []string{`{`, `{"id":"other"}`, ``} {
		if err := os.WriteFile(filepath.Join(d.dir, "bad.json"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := d.call("list_tasks", `{}`); !strings.Contains(got, "the task in bad.json can't be read") {
			t.Errorf("with %q: %q", bad, got)
		}
	}
}
