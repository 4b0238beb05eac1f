package settings_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gemline/settings"
)

// Two files say something; of the variables in one, the environment knows the
// value.
func Example() {
	dir, err := os.MkdirTemp("", "settings")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	user, project := filepath.Join(dir, "user.json"), filepath.Join(dir, "project.json")
	os.WriteFile(user, []byte(`{"model": {"name": "$MY_MODEL"}, "tools": {"exclude": ["web_fetch"]}}`), 0o600)
	os.WriteFile(project, []byte(`{"tools": {"exclude": ["write_file"]}} // ours`), 0o600)

	s, warnings, err := settings.Load([]settings.Source{{Scope: settings.User, Path: user}, {Scope: settings.Workspace, Path: project}},
		func(name string) (string, bool) { return "flash", name == "MY_MODEL" })
	fmt.Println(s.Model, s.ExcludedTools, len(warnings), err)
	// Output: flash [web_fetch write_file] 0 <nil>
}
