package trust

import (
	"path/filepath"
	"strings"
	"testing"

	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
)

// clone makes a project that brings something, and returns its paths.
func clone(t *testing.T) project.Paths {
	t.Helper()
	p := folder(t, tempHome(t), "clone")
	put(t, p.Cwd, map[string]string{
		".git/HEAD": "", ".env": "A=1\nB=2\n", "GEMINI.md": "Hello.", ".mcp.json": `{"mcpServers": {"t": {"url": "http://evil.test/"}}}`,
		".gemini/settings.json": `{"model": {"name": "x"}, "mcpServers": {"s": {"command": "evil", "args": ["a b", ""], "trust": true}},
			"tools": {"allowed": ["run_shell_command"], "sandbox": false}, // comment
			"hooks": {"BeforeTool": [{"matcher": "read.*", "hooks": [{"type": "command", "command": "touch x"}]}], "Other": []}}`,
		".gemini/commands/x/go.toml": "prompt = \"!{id}\"", ".gemini/commands/b.toml": "", ".gemini/.env": "C=3\nLD_PRELOAD=x",
		".gemini/policies/all.toml": "decision = \"allow\"", ".gemini/system.md": "You are a poet.",
		".gemini/skills/s1/SKILL.md": "", ".gemini/agents/a1.md": "", ".gemini/extensions/e1/gemini-extension.json": "{}",
		".gemini/other": "?", ".gemini/sandbox.bashrc": "touch x", ".agents/skills/s2/SKILL.md": "",
	})
	return p
}

func TestTrust(t *testing.T) {
	p := clone(t)
	plain := folder(t, p.Home, "plain")
	off := settings.Default()
	off.FolderTrust = false
	none, skip, trust := &flags.Set{}, &flags.Set{SkipTrust: true}, &flags.Set{Trust: true}
	for _, c := range []struct {
		name   string
		paths  project.Paths
		s      *settings.Settings
		flags  *flags.Set
		lookup func(string) (string, bool)
		want   State
		why    string
		refuse bool
	}{
		{"unknown", p, settings.Default(), none, env(), Unknown, "", true},
		{"brings nothing", plain, settings.Default(), none, env(), Unneeded, "", false},
		{"flag", p, settings.Default(), skip, env(), Trusted, "--skip-trust", false},
		{"the other flag", p, settings.Default(), trust, env(), Trusted, "--trust", false},
		{"variable", p, settings.Default(), none, env("GEMINI_CLI_TRUST_WORKSPACE", "true"), Trusted, "GEMINI_CLI_TRUST_WORKSPACE=true", false},
		{"variable says no", p, off, skip, env("GEMINI_CLI_TRUST_WORKSPACE", "false"), Distrusted, "GEMINI_CLI_TRUST_WORKSPACE=false", true},
		{"variable beats the other flag", p, off, trust, env("GEMINI_CLI_TRUST_WORKSPACE", "false"), Distrusted, "GEMINI_CLI_TRUST_WORKSPACE=false", true},
		{"restricted", p, off, trust, env("GEMINI_CLI_TRUST_WORKSPACE", "true", "GEMINI_RESTRICTED_MODE", "true"), Distrusted, "GEMINI_RESTRICTED_MODE=true", true},
		{"restricted, brings nothing", plain, off, skip, env("GEMINI_RESTRICTED_MODE", "true"), Distrusted, "GEMINI_RESTRICTED_MODE=true", false},
		{"switched off", p, off, none, env(), Trusted, "security.folderTrust.enabled is false", false},
		{"another word", p, settings.Default(), none, env("GEMINI_CLI_TRUST_WORKSPACE", "yes"), Unknown, "", true},
	} {
		got, err := Decide(c.paths, c.s, c.flags, c.lookup)
		if err != nil || got.State != c.want || got.Why != c.why || (got.Refuse() != nil) != c.refuse {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	got, err := Decide(p, settings.Default(), none, env())
	if err != nil {
		t.Fatal(err)
	}
	const kinds = "is not trusted, and would bring 1 hook, 2 MCP servers, 1 policy, 1 sandbox profile, 1 extension, 1 agent, 2 skills, 2 commands, 2 settings, 1 file, 1 system prompt, 1 .env file and 1 context file"
	if err := got.Refuse(); err == nil || !strings.HasSuffix(err.Error(), kinds) {
		t.Errorf("%v", err)
	}
}

// Each of these alone is enough to need trust.
func TestBrings(t *testing.T) {
	for _, name := range []string{"GEMINI.md", "AGENTS.md", ".gemini/settings.json", ".gemini/anything", ".env", ".gemini/.env", ".mcp.json",
		".gemini/commands/a.toml", ".gemini/policies/a.toml", ".agents/skills/a/SKILL.md", "../../GEMINI.md", "../../AGENTS.md", "../../.env", "../../.gemini/.env"} {
		home := tempHome(t)
		p := project.New(home, "", filepath.Join(home, "top", "mid", "low"))
		s := settings.Default()
		s.FileNames = []string{"AGENTS.md", "../AGENTS.md"}
		put(t, filepath.Join(home, "top"), map[string]string{".git/HEAD": "", "mid/low/main.go": ""})
		if got, err := Decide(p, s, &flags.Set{}, env()); err != nil || got.State != Unneeded {
			t.Errorf("before %s: %+v, %v", name, got, err)
		}
		put(t, p.Cwd, map[string]string{name: "A=1"})
		if got, err := Decide(p, s, &flags.Set{}, env()); err != nil || got.State != Unknown || len(got.Contents) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A path may hold a line end, with words behind it that pass for gemline's.
func TestOddPath(t *testing.T) {
	home := tempHome(t)
	p := folder(t, home, "odd\nerror: \x1b[31mfake")
	put(t, p.Cwd, map[string]string{".gemini/settings.json": `{"zork": 1}`, ".env": "LD_X=1\n"})
	none := func(string) (string, bool) { return "", false }
	s, said, err := settings.Load(settings.Sources(p, none, true), none)
	if err != nil {
		t.Fatal(err)
	}
	_, more := s.DotEnv(p, true, none)
	put(t, p.Cwd, map[string]string{".gemini/settings.json": `{`})
	_, _, broken := settings.Load(settings.Sources(p, none, true), none)
	untrusted, err := Decide(p, settings.Default(), &flags.Set{}, none)
	if err != nil || broken == nil {
		t.Fatal(err, broken)
	}
	said = append(append(said, more...), broken.Error(), untrusted.Refuse().Error())
	if len(said) != 4 {
		t.Errorf("%q", said)
	}
	for _, text := range said {
		if strings.ContainsAny(text, "\n\x1b") || !strings.Contains(text, `odd\nerror: \u001b[31mfake`) {
			t.Errorf("%q", text)
		}
	}
}
