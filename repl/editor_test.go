package repl

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestEditorCommand(t *testing.T) {
	for _, c := range []struct {
		name      string
		window    bool
		installed string
		want      string
	}{
		{"vscode", false, "", "code --wait"},
		{"vscode", true, "code", "code --wait --new-window"},
		{"zed", true, "zeditor", "zeditor --wait --new"},
		{"zed", false, "zed zeditor", "zed --wait"},
		{"antigravity", false, "antigravity", "antigravity --wait"},
		{"bbedit", true, "", "bbedit --wait --new-window"},
		{"lapce", true, "", "lapce --wait"},
		{"neovim", true, "", "nvim"},
		{"emacs", false, "", "emacs -nw"},
		{"hx", false, "helix", "helix"},
		{"", false, "", ""},
		{"rm -rf", false, "rm", ""},
	} {
		found := func(program string) bool { return strings.Contains(" "+c.installed+" ", " "+program+" ") }
		if got := EditorCommand(c.name, c.window, found); got != c.want {
			t.Errorf("%s, window %v, installed %s: %q; want %q", c.name, c.window, c.installed, got, c.want)
		}
	}
}

// A command with quotation marks, ~ or variables is a shell's.
func TestEditorByShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a script of a shell")
	}
	dir := filepath.Join(t.TempDir(), "my editors")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ed"), []byte("#!/bin/sh\necho \"$#$1\" >>\"$2\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "HOME="+dir)
	for _, command := range []string{`"` + dir + `/ed" ''`, `~/ed ""`, `"$HOME"/ed ""`} {
		if text, err := Editor(command, environ, nil, nil, nil)(t.Context(), "a.go", "before\n"); err != nil || text != "before\n2\n" {
			t.Errorf("%s: %q, %v", command, text, err)
		}
	}
}

// The editor gets its options and a file of the right name that nobody else
// can read, and what it leaves there comes back.
func TestEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a script of a shell")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nfor last; do :; done\n{ echo \"$1\"; basename \"$last\"; ls -l \"$last\" | cut -c1-10; ls -ld \"$(dirname \"$last\")\" | cut -c1-10; } >" +
		filepath.Join(dir, "seen") + "\necho changed >>\"$last\"\n"
	if err := os.WriteFile(filepath.Join(dir, "code"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
	command := EditorCommand("vscode", false, func(string) bool { return true })
	text, err := Editor(command, nil, nil, nil, nil)(t.Context(), "cmd/main.go", "before\n")
	if err != nil || text != "before\nchanged\n" {
		t.Errorf("%q, %v", text, err)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if want := "--wait\nmain.go\n-rw-------\ndrwx------\n"; err != nil || string(seen) != want {
		t.Errorf("the editor saw %q, %v", seen, err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestNoEditor(t *testing.T) {
	for command, want := range map[string]string{"": "general.preferredEditor", "no-such-editor --wait": "no-such-editor: exec", "false": "exit status 1"} {
		if text, err := Editor(command, nil, nil, nil, nil)(t.Context(), "x", "before"); err == nil || !strings.Contains(err.Error(), want) || text != "" {
			t.Errorf("%q: %q, %v", command, text, err)
		}
	}
}
