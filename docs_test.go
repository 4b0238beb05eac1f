package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"gemline/commands"
	"gemline/settings"
	"gemline/tools"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// The reference pages are printed from the tables that the program works by.
// UPDATE=1 writes them.
func TestReferencePages(t *testing.T) {
	ws, err := workspace.New(workspace.Config{Roots: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"docs/commands.md": commandsPage(),
		"docs/settings.md": settingsPage(),
		"docs/tools.md":    toolsPage(tools.Env{Workspace: ws, Jobs: shell.NewJobs(t.TempDir())}),
	} {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := os.ReadFile(name); string(got) != want {
			t.Errorf("%s is stale; UPDATE=1 go test -run TestReferencePages . writes it", name)
		}
	}
}

func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nWhat a line that begins with a slash does. Printed from the program's own table.\n\n| command | what it does |\n|---|---|\n")
	var list func(prefix string, s commands.Set)
	list = func(prefix string, s commands.Set) {
		for _, c := range s {
			name := strings.TrimSpace(prefix + c.Name + " " + strings.ReplaceAll(c.Args, "|", `\|`))
			summary := c.Summary
			if len(c.Aliases) > 0 {
				summary += "; also `" + prefix + strings.Join(c.Aliases, "`, `"+prefix) + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, summary)
			list(prefix+c.Name+" ", c.Sub)
		}
	}
	list("/", commands.Builtin())
	return b.String()
}

func toolsPage(env tools.Env) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nWhat the model can ask for, in the words it is told. Printed from the program's own declarations.\n")
	for _, tool := range tools.New(env) {
		fmt.Fprintf(&b, "\n## %s (%s)\n\n%s\n\n", tool.Name(), tool.Label, tool.Declaration.Description)
		var schema struct {
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Declaration.ParametersJsonSchema.(json.RawMessage), &schema); err != nil {
			panic(err)
		}
		names := make([]string, 0, len(schema.Properties))
		for name := range schema.Properties {
			names = append(names, name)
		}
		sort.Strings(names)
		required := " " + strings.Join(schema.Required, " ") + " "
		for _, name := range names {
			p := schema.Properties[name]
			fmt.Fprintf(&b, "- `%s` (%s", name, p.Type)
			if strings.Contains(required, " "+name+" ") {
				b.WriteString(", required")
			}
			b.WriteString(")")
			if p.Description != "" {
				b.WriteString(": " + p.Description)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func settingsPage() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nThe keys that gemline goes by, printed from its own table. `docs/usage.md` says where the files are.\n\n| key | value | default | what it does |\n|---|---|---|---|\n")
	for _, k := range settings.Keys() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, k.Type, k.Default, k.Help)
	}
	b.WriteString("\nThe Gemini CLI's other keys are accepted and change nothing. An unknown key is told once, with the known one that comes nearest.\n")
	return b.String()
}
