//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/settings"
)

// Opening a pipe that nobody writes to would wait for ever.
func TestSurveyOfPipes(t *testing.T) {
	p := folder(t, tempHome(t), "pipes")
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

// What a link leads to was not shown to who trusted the folder, and is not
// used either.
func TestLinksOutOfFolder(t *testing.T) {
	home := tempHome(t)
	p, other := folder(t, home, "a"), folder(t, home, "b")
	put(t, other.Cwd, map[string]string{"settings.json": `{"model": {"name": "theirs"}}`, "env": "GEMINI_MODEL=theirs\n"})
	put(t, p.Cwd, map[string]string{".gemini/README": ""})
	for name, to := range map[string]string{".gemini/settings.json": "settings.json", ".env": "env"} {
		if err := os.Symlink(filepath.Join(other.Cwd, to), filepath.Join(p.Cwd, name)); err != nil {
			t.Skip(err)
		}
	}
	s, said, err := settings.Load(settings.Sources(p, env(), true), env())
	vars, more := s.DotEnv(p, true, env())
	if err != nil || s.Model != "" || len(vars.Project) > 0 || len(said)+len(more) != 2 {
		t.Errorf("%q, %v, %q, %v", s.Model, vars, append(said, more...), err)
	}
	for name, text := range map[string]string{".gemini/settings.json": `{"model": {"name": "own"}}`, ".env": "GEMINI_MODEL=own\n"} {
		put(t, p.Cwd, map[string]string{name + ".real": text})
		os.Remove(filepath.Join(p.Cwd, name))
		if err := os.Symlink(filepath.Base(name)+".real", filepath.Join(p.Cwd, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, said, err = settings.Load(settings.Sources(p, env(), true), env())
	if vars, more = s.DotEnv(p, true, env()); err != nil || s.Model != "own" || vars.Project["GEMINI_MODEL"].Value != "own" || len(said)+len(more) > 0 {
		t.Errorf("%q, %v, %q, %v", s.Model, vars, append(said, more...), err)
	}
}

// A project's password is nobody's business who looks over a shoulder; where
// its requests go is.
func TestSurveyMasksAddresses(t *testing.T) {
	p := folder(t, tempHome(t), "a")
	put(t, p.Cwd, map[string]string{".gemini/settings.json": `{"mcpServers": {"a": {"httpUrl": "https://me:hunter2@h.example/x?api_key=hunter2"}, "b": {"command": "x", "args": ["--token", "t"]}}}`})
	want := []string{"MCP server a: https://********@h.example/x?api_key=********", "MCP server b: x --token t"}
	if d := cmp.Diff(want, told(p)); d != "" {
		t.Error(d)
	}
}
