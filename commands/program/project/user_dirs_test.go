package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gemline/settings/flags"
	"gemline/settings/project"
)

// The template of new repositories is the user's to name, not the project's.
func TestHooks(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	o := &Options{Paths: project.Paths{Home: home}}
	o.Env.Process.Lookup = func(string) (string, bool) { return "", false }
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = ~/template\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := (userDirs{o}).hooks(), filepath.Join(home, "template", "hooks"); got != want {
		t.Errorf("got %q, not %q", got, want)
	}
	if err := os.WriteFile(".gitconfig", []byte("[init]\n\ttemplateDir = "+home+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Paths.Home = ""
	if got := (userDirs{o}).hooks(); got != "" {
		t.Errorf("without a home directory: %q", got)
	}
}

// What a variable names is hidden also where nobody knows a home directory, as of a container's user.
func TestHiddenWithoutHome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	o := &Options{Flags: &flags.Set{}, Paths: project.Paths{Cwd: t.TempDir()}}
	o.Env.Process.Lookup = func(name string) (string, bool) {
		value, set := map[string]string{"KUBECONFIG": file}[name]
		return value, set
	}
	if got := (userDirs{o}).hidden(); !slices.Equal(got, []string{file}) {
		t.Error(got)
	}
}
