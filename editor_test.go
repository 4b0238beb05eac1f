package main

import (
	"os"
	"path/filepath"
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
