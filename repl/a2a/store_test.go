package a2a

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	protocol "github.com/a2aproject/a2a-go/a2a"
)

// Of what stands in the folder of the tasks, what can be read is there again. Of what can't be
// it is said once where it is and why.
func TestOpen(t *testing.T) {
	t.Parallel()
	d := store(t.TempDir())
	const good, broken, other, huge, empty = "7c5f1d6e-0001-4000-8000-000000000001", "7c5f1d6e-0001-4000-8000-000000000002",
		"7c5f1d6e-0001-4000-8000-000000000003", "7c5f1d6e-0001-4000-8000-000000000004", "7c5f1d6e-0001-4000-8000-000000000005"
	for id, text := range map[string]string{good: `{"task": {"id": "` + good + `"}}`, broken: "{", other: `{"task": {"id": "` + good + `"}}`,
		huge: strings.Repeat(" ", 4*mostRecord+1), "no-task": "{"} {
		if err := os.MkdirAll(filepath.Dir(d.path(protocol.TaskID(id))), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.path(protocol.TaskID(id)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(string(d), empty), 0o700); err != nil {
		t.Fatal(err)
	}
	var told []string
	all, done, err := d.open(t.Context(), func(s string) { told = append(told, s) })
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if len(all) != 1 || all[0].Task.ID != good {
		t.Errorf("%v", all)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "3 tasks are left out, such as "+string(d)) {
		t.Errorf("told is %q", told)
	}
}

// A folder that can't be listed is not taken for an empty one.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a2a")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, err := store(file).list(); err == nil {
		t.Errorf("it has %v", ids)
	}
}
