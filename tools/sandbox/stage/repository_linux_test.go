package stage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What a command may have made in the place of a file with one line is not
// read: a pipe would never end, and a device may do something.
func TestLine(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"one": "../..\n", "bare": "../..", "two": "a\nb\n", "nul": "a\x00", "long": strings.Repeat("x", maxLine+1), "empty": ""} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "one", "device": "/dev/zero", "terminal": "/dev/tty", "self": "self"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "../..", "bare": "../..", "link": "../..", "two": "", "nul": "", "long": "", "empty": "", "device": "", "terminal": "", "self": "", "pipe": "", ".": "", "none": ""} {
		if got := line(at(name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A new repository that may stay is looked at again, for what a command has left
// behind may go on to change it.
func TestChangedLater(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g, err := protect(&Spec{Root: root}, false)
	if err != nil {
		t.Fatal(err)
	}
	git := filepath.Join(root, "sub", ".git")
	if err := os.MkdirAll(filepath.Join(git, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ config, want string }{
		{"[core]\n\tbare = false\n", ""},
		{"[core]\n\tbare = false\n\tabbrev = 9\n", ""},
		{"[core]\n\tfsmonitor = id\n", `sets core.fsmonitor); it is now called "sub/git.put-aside-1"`},
	} {
		if err := os.WriteFile(filepath.Join(git, "config"), []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(g.enforce(true), "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: %q", c.config, got)
		}
	}
}
