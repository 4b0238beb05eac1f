package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// The editor that the settings name beats the one of the environment.
func TestPreferredEditor(t *testing.T) {
	t.Parallel()
	server := et.NewServer(work()[0], et.Says("Fine."))
	c := terminal(t, server)
	bin, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "code"), []byte("#!/bin/sh\ntest \"$1\" = --wait && shift\ntest \"$1\" = --new-window && shift\nsed -i s/world/reader/ \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `{"general": {"preferredEditor": "vscode", "openEditorInNewWindow": true}}`
	if err := os.WriteFile(filepath.Join(home, ".gemini", "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "EDITOR=false", "VISUAL=false", "GEMINI_CLI_HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("mend it")
	s.Expect(asking)
	s.Line("e")
	s.Expect("+Hello, reader.")
	s.Expect(asking)
	s.Line("yes")
	s.Expect("Fine.")
	s.Expect("> ")
	s.Send("\x04")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, reader.\n" {
		t.Errorf("the greeting is %q", b)
	}
}

// Where no editor is named, the first of the usual ones is it; where there is
// none, it is not offered.
func TestUsualEditor(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"ed vim", "sensible-editor nano", ""} {
		t.Run(there, func(t *testing.T) {
			server := et.NewServer(work()[0], et.Says("Fine."))
			c := terminal(t, server)
			bin := t.TempDir()
			for i, name := range strings.Fields(there) {
				script := "#!/bin/sh\n/bin/sed -i s/world/" + name + "/ \"$1\"\n"
				if i == 0 && name == "ed" {
					script = "#!/bin/sh\nexit 1\n" // comes last
				}
				if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.Env = append(c.Env, "PATH="+bin)
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Line("mend it")
			question := s.Match(`y n [^\n]*\): `)
			if got := strings.Contains(question, " e ? ("); got != (there != "") {
				t.Errorf("offered: %v", got)
			}
			switch there {
			case "":
				s.Line("n")
				s.Expect("Fine.")
				s.Expect("> ")
				s.Line("/editor")
				s.Expect("no editor was found")
			case "ed vim":
				s.Line("e")
				s.Expect("+Hello, vim.")
				s.Expect(asking)
				s.Line("y")
				s.Expect("Fine.")
			default:
				s.Line("e")
				s.Expect("+Hello, sensible-editor.")
				s.Expect(asking)
				s.Line("y")
				s.Expect("Fine.")
			}
			s.Expect("> ")
			s.Send("\x04")
			s.Exit()
		})
	}
}
