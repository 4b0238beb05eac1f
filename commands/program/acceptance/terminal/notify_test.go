package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Attention is called for once at a question, and not after a short turn.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, term, settings, want string }{
		{"osc9", "xterm", `"enableNotifications": true, "notificationMethod": "osc9"`, "\x1b]9;gemline: run: rm notes.txt\a"},
		{"bell in plain mode", "dumb", `"enableNotifications": true, "notificationMethod": "bell"`, "\a"},
		{"auto in plain mode", "dumb", `"enableNotifications": true`, ""},
		{"none", "xterm", `"enableNotifications": true, "notificationMethod": "none"`, ""},
		{"off", "xterm", `"notificationMethod": "bell"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := pt.Configured(t, pt.Terminal(t, et.NewServer(pt.Work()[1], et.Says("Fine."))), `{"general": {`+tt.settings+`}}`)
			c.Term = tt.term
			s := teletype.Start(t, c)
			s.Say("clean up")
			s.Expect(pt.Asking)
			s.Line("n")
			s.Expect("Fine.")
			s.Say("/quit")
			s.Exit()
			text := string(s.Transcript())
			if n := strings.Count(text, "\a"); n != min(1, len(tt.want)) || !strings.Contains(text, tt.want) {
				t.Errorf("%d bells, want %q in %q", n, tt.want, text)
			}
		})
	}
}

// A command of the user's takes the place of that; a project can't name one.
func TestNotificationCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "alert")
	c := pt.Configured(t, pt.Terminal(t, et.NewServer(pt.Work()[1], et.Says("Fine."))),
		fmt.Sprintf(`{"general": {"notificationCommand": "cat >%s.part && mv %s.part %s"}}`, file, file, file))
	project := filepath.Join(c.Dir, ".gemini")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "settings.json"), []byte(`{"general": {"notificationCommand": "touch hacked"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := teletype.Start(t, c)
	s.Expect("general.notificationCommand: a project can't set it")
	s.Say("clean up")
	s.Expect(pt.Asking)
	s.Line("n")
	s.Expect("Fine.")
	s.Say("!until test -e " + file + "; do sleep 0.05; done; cat " + file)
	s.Expect(`{"event":"permission","text":"run: rm notes.txt","directory":"`)
	s.Say("/quit")
	s.Exit()
	if _, err := os.Stat(filepath.Join(c.Dir, "hacked")); err == nil {
		t.Error("the project's command ran")
	}
}
