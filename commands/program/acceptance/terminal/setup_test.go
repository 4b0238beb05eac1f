package terminal

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// In a session the files are shown, asked about once, and written.
func TestSetupGitHub(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer())
	hub := t.TempDir()
	pt.Write(t, filepath.Join(hub, "google-github-actions/run-gemini-cli/releases/v1/sources/examples/workflows/pr-review"), map[string]string{"gemini-review.yml": "name: review\n"})
	pt.Write(t, filepath.Join(c.Dir, ".git"), map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/.keep": "", "refs/.keep": "",
		"config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://github.com/us/desk\n"})
	server := httptest.NewServer(&pt.Publisher{Dir: hub})
	defer server.Close()
	c.Env = append(c.Env, "GITHUB_API_URL="+server.URL)
	s := teletype.Start(t, c)
	s.Expect("> ")
	at := filepath.Join(c.Dir, ".github", "workflows", "gemini-review.yml")
	for _, answer := range []string{"n", "y"} {
		s.Line("/setup-github")
		s.Expect("+name: review")
		s.Expect("write these 2 files?")
		s.Expect(": ")
		if _, err := os.Stat(at); err == nil {
			t.Error("written before it was answered")
		}
		s.Line(answer)
		s.Expect("\n> ")
	}
	if b, err := os.ReadFile(at); string(b) != "name: review\n" {
		t.Errorf("%q, %v", b, err)
	}
	s.Line("/quit")
	s.Exit()
	pt.CheckPlain(t, s.Transcript())
}
