//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine/disk"
	"gemline/settings"
	"gemline/settings/project"
)

// On a machine with several users, a file above the project may be anybody's.
func TestDotEnvOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := t.TempDir()
	above, here := filepath.Join(dir, ".env"), filepath.Join(dir, "project")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(above, []byte("GEMINI_MODEL=theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "GEMINI.md")
	for path, text := range map[string]string{notes: "theirs", filepath.Join(dir, ".git"): ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const other, another = 65534, 65533
	p := project.Paths{Home: filepath.Join(dir, "home"), Cwd: here}
	for _, c := range []struct {
		name        string
		file, owner int
		used        bool
	}{
		{"the user's own", 0, 0, true},
		{"another user's", other, 0, false},
		{"the project's owner's", other, other, true},
		{"another user's, in a third one's project", another, other, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.Chown(above, c.file, -1); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(notes, c.file, -1); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(here, c.owner, -1); err != nil {
				t.Fatal(err)
			}
			vars, warnings := settings.Default().DotEnv(p, true, env())
			told := strings.Contains(strings.Join(warnings, "\n"), "belongs to another user")
			if used := vars.Project["GEMINI_MODEL"].Value != ""; used != c.used || told == c.used {
				t.Errorf("used: %v, warnings: %q", used, warnings)
			}
			listed := slices.ContainsFunc(Scan(p, settings.Default()), func(i Item) bool { return i.Kind == "context file" })
			if listed != c.used || (disk.OwnedByOther(notes, here) == "") != c.used {
				t.Errorf("the context file is listed: %v, %q", listed, disk.OwnedByOther(notes, here))
			}
		})
	}
}
