package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/settings"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// told returns the lines that a reader is told about a folder.
func told(p project.Paths) []string {
	lines, caution := Summary(Scan(p, settings.Default()))
	for i := range lines {
		if caution[i] {
			lines[i] = "* " + lines[i]
		}
	}
	return lines
}

// Commands in Markdown count as the project's where the user names their folder from the
// working directory.
func TestSurveyMarkdownCommands(t *testing.T) {
	p := project.New(t.TempDir(), "", t.TempDir())
	put(t, p.Cwd, map[string]string{".agent/commands/long.md": strings.Repeat("x", maxPeek) + "!`ls`", ".gemini/commands/u.toml": `prompt = "\u0021{ls}"`, ".gemini/commands/v.toml": "prompt = \"\"\"!\\\n  {ls}\"\"\"",
		".gemini/commands/w.toml": `prompt = "a\tb"`, ".gemini/settings.json": `{"experimental": {"extensionReloading": true}}`, ".agent/commands/git/log.md": "!`git log`", ".agent/commands/a.md": "x", "b/c.md": "x",
		".gemini/.gitignore": "*"}) // which brings nothing
	s := settings.Default()
	s.MarkdownCommands = []string{".agent/commands", "~/b", filepath.Join(p.Cwd, "b"), "../b", "none"}
	lines, _ := Summary(Scan(p, s))
	brought := []string{"command /u: may hold !{}, which runs commands", "command /v: may hold !{}, which runs commands", "command /git:log: holds !``, which runs commands", "command /long: may hold !``, which runs commands",
		"commands /w and /a", "setting experimental.extensionReloading: true (not in use yet; changes what is tried out)"}
	if d := cmp.Diff(brought, lines); d != "" {
		t.Error(d)
	}
	if lines := told(p); len(lines) != 4 {
		t.Error("with no setting:", lines)
	}
}

func TestSurvey(t *testing.T) {
	p := clone(t)
	all := []string{
		"hook BeforeTool of read.*: touch x",
		`MCP server s: evil "a b" ""`, // its trust counts for nothing
		"MCP server t: http://evil.test/",
		"policy .gemini/policies/all.toml", // which can't allow anything
		"* sandbox profile .gemini/sandbox.bashrc (changes the confinement of commands)",
		"extension e1",
		"agent a1",
		"skills s1 and s2",
		"command /x:go: holds !{}, which runs commands",
		"command /b",
		"setting hooks.Other: []",
		`setting model.name: "x"`,
		"file .gemini/other: 1 byte",
		"system prompt .gemini/system.md: 15 bytes",
		".env file .gemini/.env: sets C for the folder's files; would set LD_PRELOAD, which no project can",
		"context file GEMINI.md: 6 bytes",
	}
	if d := cmp.Diff(all, told(p)); d != "" {
		t.Error(d)
	}
	below := project.New(p.Home, "", filepath.Join(p.Cwd, "sub"))
	if d := cmp.Diff([]string{".env file ../.gemini/.env: sets C for the folder's files; would set LD_PRELOAD, which no project can", "context file ../GEMINI.md: 6 bytes"}, told(below)); d != "" {
		t.Error("below:", d)
	}
	// What is the user's own is not brought by a folder.
	home := project.New(p.Home, "", p.Home)
	put(t, p.Home, map[string]string{".env": "A=1", "GEMINI.md": "x", ".gemini/commands/a.toml": "", ".gemini/GEMINI.md": "x"})
	if got := told(home); got != nil {
		t.Errorf("at home: %v", got)
	}
	if got := told(folder(t, p.Home, "plain")); got != nil {
		t.Errorf("in a plain folder: %v", got)
	}
	if got := told(project.New("", "", folder(t, p.Home, "plain").Cwd)); len(got) != 1 || !strings.HasPrefix(got[0], ".env file ") {
		t.Errorf("without a home directory everything above is somebody's: %v", got)
	}
}

// Links are not followed out of the folder, pipes are not waited for, and
// what is broken or too large is said.
func TestSurveyOfTraps(t *testing.T) {
	p := folder(t, tempHome(t), "traps")
	secret := filepath.Join(p.Home, "secret.json")
	os.WriteFile(secret, []byte(`{"secretKey": 1}`), 0o600)
	put(t, p.Cwd, map[string]string{".gemini/commands/a.toml": "", "inside.md": "x", ".git/HEAD": ""})
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(p.Cwd, name)); err != nil {
			t.Skip(err)
		}
	}
	link(secret, ".gemini/settings.json")
	link("/etc", ".gemini/policies")
	link("../../nowhere", ".gemini/system.md")
	link(secret, ".mcp.json")
	link("inside.md", "GEMINI.md")
	link("loop", "loop")
	want := []string{
		"MCP server .mcp.json: can't be looked at: is a link that leads out of the folder, or nowhere",
		"command /a",
		"setting .gemini/settings.json: can't be looked at: is a link that leads out of the folder, or nowhere",
		"file .gemini/policies: can't be looked at: is a link that leads out of the folder, or nowhere",
		"system prompt .gemini/system.md: can't be looked at: is a link that leads out of the folder, or nowhere",
		"context file GEMINI.md: 1 byte",
	}
	if d := cmp.Diff(want, told(p)); d != "" {
		t.Error(d)
	}
	os.RemoveAll(filepath.Join(p.Cwd, ".gemini"))
	os.Remove(filepath.Join(p.Cwd, ".mcp.json"))
	os.Remove(filepath.Join(p.Cwd, "GEMINI.md"))
	link(p.Home, ".gemini")
	if d := cmp.Diff([]string{"file .gemini: can't be looked at: is a link that leads out of the folder, or nowhere"}, told(p)); d != "" {
		t.Error(d)
	}
}

func TestSurveyOfBrokenFiles(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": `:                             "setting .gemini/settings.json: can't be used: .gemini/settings.json:1:7: the file ends in the middle (expecting a name, a value or a closing bracket)",
		`[]`:                                 "setting .gemini/settings.json: can't be used: .gemini/settings.json:1:1: must hold an object: { ... }",
		strings.Repeat("[", 200):             "nested too deep",
		strings.Repeat(" ", jsonc.MaxFile+1): "is larger than 4 MiB",
		`{"hooks": {"E": [{"url": "u"}]}}`:   "setting hooks.E: [{\"url\":\"u\"}]",
		`{"mcpServers": {"a": {"command": "$A"}}}`:     "MCP server a: $A",
		`{"tools": {"callCommand": "x"}}`:              `* setting tools.callCommand: "x" (runs a command)`,
		`{"security": {"disableYoloMode": true}}`:      "setting security.disableYoloMode: true",
		`{"general": {"defaultApprovalMode": "plan"}}`: `setting general.defaultApprovalMode: "plan"`,
	} {
		p := folder(t, tempHome(t), "broken")
		put(t, p.Cwd, map[string]string{".gemini/settings.json": text})
		if got := strings.Join(told(p), "\n"); !strings.Contains(got, want) {
			t.Errorf("%.50s: %q, want %q", text, got, want)
		}
	}
}

// What would not count is not told: what a project can't set, what is no setting, what is of
// the wrong type and what has no effect.
func TestSurveyOfWhatCounts(t *testing.T) {
	for _, text := range []string{
		`{"hooks": 1, "mcpServers": []}`, `{"mcpServers": {"a": 1}}`,
		`{"telemetry": {"otlpEndpoint": "x"}}`, `{"x": {"baseUrl": "y"}}`, `{"ui": {"theme": "x"}}`, `{"policyPaths": ["x"]}`,
		`{"security": {"disableYoloMode": false}}`, `{"general": {"defaultApprovalMode": "auto_edit"}}`,
		`{"tools": {"allowed": ["glob"], "sandbox": false, "sandboxAllowedPaths": ["/"]}}`, `{"excludeTools": 5}`, `{}`,
	} {
		p := folder(t, tempHome(t), "nothing")
		put(t, p.Cwd, map[string]string{".gemini/settings.json": text})
		if got := told(p); len(got) > 0 {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// Of thousands the first are told, and how many there are; what weakens
// security is told in any case.
func TestSurveyOfVeryMuch(t *testing.T) {
	p := folder(t, tempHome(t), "much")
	var hooks []string
	for i := range 5000 {
		hooks = append(hooks, fmt.Sprintf(`{"type": "command", "command": "c%d"}`, i))
	}
	files := map[string]string{".gemini/settings.json": `{"hooks": {"SessionEnd": [{"hooks": [` + strings.Join(hooks, ",") + `]}]}, "tools": {"callCommand": "` + strings.Repeat("é", 1000) + `"}}`}
	for i := range 1100 {
		files[fmt.Sprintf(".gemini/commands/%04d%s.toml", i, strings.Repeat("x", 200))] = ""
		files[fmt.Sprintf(".gemini/policies/%04d.toml", i)] = "allow"
	}
	put(t, p.Cwd, files)
	lines := told(p)
	if n := len(lines); n > 1200 {
		t.Errorf("%d lines", n)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"hook SessionEnd: c0", "4,950 more hooks", "and 980 more", "* setting tools.callCommand", "... and 1,503 more bytes", "holds 1,000 files or more"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %.3000s", want, text)
		}
	}
	for _, l := range lines {
		if len(l) > 5000 {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
	if s := kinds(Scan(p, settings.Default())); !strings.HasPrefix(s, "5,000 hooks, 1,000 policies, 1,000 commands") {
		t.Errorf("%s", s)
	}
}

// Whatever a project's settings hold, looking at them ends well.
func FuzzSurvey(f *testing.F) {
	f.Add(`{"hooks": {"a": [{"hooks": [{"command": "x"}]}]}, "mcpServers": {"s": {"args": [1, "b"], "env": {"a": 1}}}, "a": {"b": {"c": {}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := jsonc.Parse("x", []byte(text))
		if err != nil {
			return
		}
		var v view
		v.tree(doc.Tree)
		for i, l := range v.items {
			if len(l.Name) > maxName+40 || len(l.Detail) > maxDetail+40 || len(l.String()) == 0 {
				t.Errorf("%d: %+v", i, l)
			}
		}
	})
}

// The folder's settings choose the names of its context files, and how far above it they are looked for.
func TestContextFilesOfTheFolder(t *testing.T) {
	p := folder(t, tempHome(t), "named")
	put(t, p.Cwd, map[string]string{"EVIL.md": "x", "GEMINI.md": "x", "MINE.md": "x", "../top": "", "../EVIL.md": "xx", ".git/HEAD": ""})
	s := settings.Default()
	s.FileNames = []string{"MINE.md"}
	for written, want := range map[string]string{
		`{}`:                                   "MINE.md: 1 byte, GEMINI.md: 1 byte",
		`{"context": {"fileName": "EVIL.md"}}`: "EVIL.md: 1 byte, GEMINI.md: 1 byte",
		`{"contextFileName": ["EVIL.md"]}`:     "EVIL.md: 1 byte, GEMINI.md: 1 byte",
		`{"context": {"fileName": ["EVIL.md"], "memoryBoundaryMarkers": ["top"]}}`: "EVIL.md: 1 byte, GEMINI.md: 1 byte, ../EVIL.md: 2 bytes",
	} {
		put(t, p.Cwd, map[string]string{".gemini/settings.json": written})
		var got []string
		for _, i := range Scan(p, s) {
			if i.Kind == "context file" {
				got = append(got, i.Name+": "+i.Detail)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %s", written, got, want)
		}
	}
}
