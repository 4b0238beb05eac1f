package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What installed the program has left a mark beside it; without one, how it was built says it.
func TestOrigin(t *testing.T) {
	for _, c := range []struct{ mark, by, command string }{
		{"deb", "a Debian package", "sudo apt install ./gemline_*_"},
		{"rpm", "an RPM package", "sudo rpm -U ./gemline-*."},
		{"apk", "an Alpine package", "doas apk add "},
		{"brew", "Homebrew", "brew upgrade gemline"},
		{"image", "a container image", "podman load "},
		{"make PREFIX=/opt", "make install", "git pull && make build && sudo make install PREFIX=/opt"},
		{"make PREFIX=/opt/my gem", "make install", "git pull && make build && sudo make install 'PREFIX=/opt/my gem'"},
		{"", "hand", ""},
		{"something newer", "hand", ""},
	} {
		if o := (Build{linked: true}).origin("/usr/bin/gemline", c.mark); o.By != c.by || !strings.HasPrefix(o.Command, c.command) {
			t.Errorf("%q: %+v", c.mark, o)
		}
	}
}

// The command can be pasted into a shell as it is; all else is in the note.
func TestUpdateCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for sh")
	}
	t.Setenv("HOME", "/home/me")
	for _, c := range []struct {
		linked              bool
		path, command, note string
	}{
		{true, "/my bin/gemline", "install -m 755 gemline '/my bin/gemline'", "with the program of a newer archive"},
		{false, "/home/me/go/bin/gemline", "git pull && go install .", "in the clone"},
		{false, "/my bin/gemline", "git pull && GOBIN='/my bin' go install .", "in the clone"},
	} {
		if o := (Build{linked: c.linked}).origin(c.path, ""); o.Command != c.command || o.Note != c.note {
			t.Errorf("%+v", o)
		}
	}
}

// A program that was built in a clone is updated there, whoever built it.
func TestOriginInClone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gemline")
	for _, c := range []struct{ file, text, by string }{
		{"go.mod", "module other\n", "hand"}, {".git", "gitdir: elsewhere\n", "hand"}, {"go.mod", "module gemline\n\ngo 1.26\n", "a build in the clone"},
	} {
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := (Build{linked: true}).origin(path, ""); o.By != c.by {
			t.Errorf("%s: %+v", c.file, o)
		}
	}
	for _, linked := range []bool{true, false} {
		if o := (Build{linked: linked}).origin(path, ""); o.Command != "git pull && make build" || o.Note != "in "+dir {
			t.Errorf("%+v", o)
		}
	}
	if o := (Build{linked: true}).origin(path, "deb"); o.By != "a Debian package" {
		t.Errorf("%+v", o)
	}
}
