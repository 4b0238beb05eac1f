package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// What a trusted project would run at events is shown in full and asked about once, and
// again when a file that it names is another.
func TestProjectHooks(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."), et.Says("Hello."), et.Says("Hello."), et.Says("Hello."))
	cmd, home := unknown(t, s, map[string]string{"mark.sh": "touch ran\n",
		".gemini/settings.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "name": "mark", "command": "bash mark.sh; touch ../outside\u001b[2J"}]}]}}`})
	os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"security": {"folderTrust": {"enabled": false}}}`), 0o600)
	start := func(answer string, questions ...string) string {
		t.Helper()
		p := teletype.Start(t, cmd)
		for _, q := range questions {
			p.Expect(q)
		}
		if len(questions) > 0 {
			p.Line(answer)
		}
		p.Expect("\n> ")
		p.Send("\x04")
		p.Exit()
		text := string(p.Transcript())
		if strings.Contains(text, "this project wants") != (len(questions) > 0) || strings.Contains(text, "\x1b[2J") {
			t.Errorf("%q", text)
		}
		return text
	}
	there := func(name string) bool { _, err := os.Stat(filepath.Join(cmd.Dir, name)); return err == nil }
	question := []string{"permission: this project wants to run 1 command, which", "  hook SessionStart, mark:", "bash mark.sh; touch ../outside\\x1b[2J", "  file mark.sh:", "touch ran",
		"warning: control or invisible characters are shown as escapes", "Enter for not now: "}
	if text := start("", question...); !strings.Contains(text, "hooks of this project do not run") || there("ran") {
		t.Errorf("it ran unasked: %q", text)
	}
	start("1", question...)
	if !there("ran") || confined() && there("../outside\x1b[2J") {
		t.Error("it did not run, or not confined")
	}
	start("")
	question[4] = "touch again"
	os.WriteFile(filepath.Join(cmd.Dir, "mark.sh"), []byte("touch again\n"), 0o600)
	start("2", question...)
	if !there("again") || !there("../outside\x1b[2J") {
		t.Error("it did not run with the user's rights")
	}
	os.WriteFile(filepath.Join(cmd.Dir, "mark.sh"), []byte("touch never\n"), 0o600)
	question[4] = "touch never"
	start("3", question...)
	if start(""); there("never") {
		t.Error("it ran although it never was to")
	}
}
