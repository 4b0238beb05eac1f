package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine/disk"
)

// Lines that are there in another spelling are not added again, and the ends of lines stay
// what they are.
func TestIgnoring(t *testing.T) {
	for was, want := range map[string]string{
		"":                                 ".gemini/\ngha-creds-*.json\n",
		"*.log":                            "*.log\n.gemini/\ngha-creds-*.json\n",
		"/.gemini\ngha-creds-*.json\n":     "/.gemini\ngha-creds-*.json\n",
		"a\r\n.gemini/\r\n":                "a\r\n.gemini/\r\ngha-creds-*.json\r\n",
		"# .gemini/\n  gha-creds-*.json\n": "# .gemini/\n  gha-creds-*.json\n.gemini/\n",
	} {
		if got := ignoring(was); got != want {
			t.Errorf("%q: %q", was, got)
		}
	}
}

// What was written is taken back when a later file can't be.
func TestWriteAllOrNone(t *testing.T) {
	for name, spoil := range map[string]func(top string) error{
		"changed meanwhile": func(top string) error {
			return os.WriteFile(filepath.Join(top, "c.yml"), []byte("somebody's"), 0o644)
		},
		"deleted meanwhile": func(top string) error { return os.Remove(filepath.Join(top, "c.yml")) },
		"made meanwhile":    func(top string) error { return os.WriteFile(filepath.Join(top, "d.yml"), nil, 0o644) },
		"a file in the way": func(top string) error { return os.WriteFile(filepath.Join(top, "e"), nil, 0o644) },
		"a link in the way": func(top string) error { return os.Symlink(t.TempDir(), filepath.Join(top, "e")) },
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for _, n := range []string{"a.yml", "c.yml"} {
				if err := os.WriteFile(filepath.Join(top, n), []byte("was"), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			dir, err := disk.OpenDir(top)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			var all []workflowFile
			for _, n := range []string{"a.yml", "new/deep/b.yml", "c.yml", "d.yml", "e/f.yml"} {
				f := workflowFile{name: n, fresh: "fresh"}
				if f.was, f.info, err = existing(dir, n); err != nil {
					t.Fatal(err)
				}
				all = append(all, f)
			}
			if err := spoil(top); err != nil {
				t.Fatal(err)
			}
			err = writeAll(dir, all)
			if err == nil {
				t.Fatal("it was written")
			}
			if b, _ := os.ReadFile(filepath.Join(top, "a.yml")); string(b) != "was" {
				t.Errorf("%v: a.yml is %q", err, b)
			}
			if b, _ := os.ReadFile(filepath.Join(top, "c.yml")); string(b) == "fresh" {
				t.Errorf("%v: c.yml was overwritten", err)
			}
			if info, err := os.Stat(filepath.Join(top, "a.yml")); err != nil || info.Mode().Perm() != 0o640 {
				t.Error(info, err)
			}
			if _, err := os.Lstat(filepath.Join(top, "new")); err == nil {
				t.Error("directories stay")
			}
			if left, _ := filepath.Glob(filepath.Join(top, ".gemline*")); len(left) > 0 {
				t.Error(strings.Join(left, " "))
			}
		})
	}
}
