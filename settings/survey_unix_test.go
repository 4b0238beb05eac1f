//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Opening a pipe that nobody writes to would wait for ever.
func TestSurveyOfPipes(t *testing.T) {
	p := project(t, tempHome(t), "pipes")
	put(t, p.Cwd, map[string]string{".gemini/commands/a.toml": "", ".gemini/policies/b.toml": "", ".git/HEAD": ""})
	for _, name := range []string{".gemini/settings.json", ".gemini/skills", ".gemini/commands/p.toml", ".gemini/policies/p.toml", ".gemini/system.md", ".mcp.json", ".env", "GEMINI.md"} {
		if err := syscall.Mkfifo(filepath.Join(p.Cwd, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	want := []string{
		"MCP server .mcp.json: can't be used: is not a regular file",
		"policies .gemini/policies/b.toml and .gemini/policies/p.toml",
		"commands /a and /p",
		"setting .gemini/settings.json: can't be used: is not a regular file",
		"file .gemini/skills: is not a directory",
		"system prompt .gemini/system.md: is not a regular file",
	}
	if d := cmp.Diff(want, told(p)); d != "" {
		t.Error(d)
	}
}

// Nor does a registry, or the marker of a project, that is a pipe.
func TestRegistryOfPipes(t *testing.T) {
	for _, name := range []string{"projects.json", "tmp/app/.project_root", "history/app/.project_root"} {
		p := project(t, tempHome(t), "app")
		pipe := p.User(name)
		if err := os.MkdirAll(filepath.Dir(pipe), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skip(err)
		}
		if pr, err := p.Project(t.Context()); err == nil || pr.Slug != "app" {
			t.Errorf("%s: %+v, %v", name, pr, err)
		}
	}
}
