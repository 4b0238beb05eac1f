package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
)

// A world is what the commands of a test take.
type world struct {
	Output
	Folder
	Asker
}

func (w *world) run(ctx context.Context, args []string) error {
	return Run(ctx, &w.Output, &w.Asker, args, &w.Folder, noProject{})
}

// noProject is the Project of a directory that has nothing but settings.
type noProject struct{ Project }

func (noProject) Problems() []Problem { return nil }

// desk is a world with a home and a project of its own, and what it was told.
func desk(t *testing.T) (w *world, out *bytes.Buffer, told *[]string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	out, told = &bytes.Buffer{}, &[]string{}
	lookup := func(name string) (string, bool) {
		if name == "GEMINI_CLI_SYSTEM_SETTINGS_PATH" {
			return filepath.Join(dir, "system.json"), true
		}
		return "", false
	}
	return &world{Asker: Asker{In: strings.NewReader("")}, Output: Output{Out: out, Notify: func(s string) { *told = append(*told, s) }},
		Folder: Folder{Lookup: lookup, Flags: &flags.Set{}, Trusted: true, Unused: func() []settings.Unused { return nil },
			Paths: project.New(filepath.Join(dir, "home"), "", filepath.Join(dir, "project"))}}, out, told
}

// A value is read by the type of its key, and a mistake is one of usage.
func TestConfigSetValues(t *testing.T) {
	for _, c := range []struct{ key, value, want, wrong string }{
		{"model.name", "true", `"name": "true"`, ""},
		{"model.name", "-", `"name": "-"`, ""},
		{"model.name", "<é&>\n\"", `"name": "<é&>\n\""`, ""},
		{"model.maxSessionTurns", "12", `"maxSessionTurns": 12`, ""},
		{"model.compressionThreshold", "0.7", `"compressionThreshold": 0.7`, ""},
		{"tools.useRipgrep", "false", `"useRipgrep": false`, ""},
		{"context.fileName", "A.md, B.md", "\"fileName\": [\n      \"A.md\",\n      \"B.md\"\n    ]", ""},
		{"tools.exclude", "run_shell_command(echo a,b), web_fetch", "\"exclude\": [\n      \"run_shell_command(echo a,b)\",\n      \"web_fetch\"\n    ]", ""},
		{"context.fileName", "[]", `"fileName": []`, ""},
		{"mcpServers.x", `{"url": "u", "args": ["-y"]}`, "\"url\": \"u\",\n      \"args\":", ""}, // in the order that was given
		{"mcpServers.x.env.A", "1", `"A"`, ""},
		{"agents.overrides.x.enabled", "true", `"enabled": true`, ""},

		{"tools.useRipgrep", "maybe", "", "must be true or false"},
		{"output.format", "xml", "", "text or json"},
		{"model.maxSessionTurns", "1.5", "", "whole number"},
		{"tools.core", "[1]", "", "tools.core must be a list of strings"},
		{"mcpServers", "x", "", "an object"},
		{"mcpServers.x", `{"args": "y"}`, "", "mcpServers.x.args"},
		{"model.name", "\xff", "", "not UTF-8"},
		{"model..name", "x", "", "empty"},
		{`model."name`, "x", "", "do not close"},
		{"", "x", "", "empty"},
		{"disableAutoUpdate", "true", "", "general.enableAutoUpdate today"},
	} {
		w, _, _ := desk(t)
		err := w.run(t.Context(), []string{"config", "set", c.key, c.value})
		b, _ := os.ReadFile(w.Paths.User("settings.json"))
		var usage *flags.UsageError
		switch {
		case c.wrong == "" && (err != nil || !strings.Contains(string(b), c.want)):
			t.Errorf("%s %s: %v, want %s in %s", c.key, c.value, err, c.want, b)
		case c.wrong != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.wrong) || b != nil):
			t.Errorf("%s %s: %v, want %s; the file is %q", c.key, c.value, err, c.wrong, b)
		}
	}
}

func TestConfigSetScope(t *testing.T) {
	w, _, _ := desk(t)
	err := w.run(t.Context(), []string{"config", "set", "model.name", "x", "--scope"})
	if err == nil || err.Error() != "--scope needs user or workspace or system" {
		t.Error(err)
	}
}

// In a session a value may have several words, with flags in front of them or behind.
func TestConfigSetInSession(t *testing.T) {
	for line, want := range map[string]string{
		"model.name c d, e":                      `"name": "c d, e"`,
		"model.name -5":                          `"name": "-5"`,
		`model.name "c d"`:                       `"name": "c d"`,
		`model.name c "d"`:                       `"name": "c \"d\""`,
		"model.name null":                        `"name": "null"`,
		"--scope user model.name c d":            `"name": "c d"`,
		"--json model.name c d --scope=user":     `"name": "c d"`,
		`mcpServers.x {"command": "a b"} --json`: `"command": "a b"`,
	} {
		w, _, _ := desk(t)
		w.In = nil
		err := w.run(t.Context(), append([]string{"config", "set"}, strings.Fields(line)...))
		if b, _ := os.ReadFile(w.Paths.User("settings.json")); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, want %s in %s", line, err, want, b)
		}
	}
}

// What is a secret is written but never shown; the name of a variable is.
func TestConfigSetSecrets(t *testing.T) {
	for _, c := range []struct {
		key, value, shown string
		warned            bool
	}{
		{"mcpServers.x.env.NAME", "opensesame", settings.Hidden, true},
		{"mcpServers.x.headers.Authorization", "Bearer opensesame", settings.Hidden, true},
		{"mcpServers.x.headers", `{"X": "opensesame"}`, settings.Hidden, true},
		{"mcpServers.x.oauth.clientSecret", "opensesame", settings.Hidden, true},
		{"mcpServers.x.oauth.clientSecret", "${opensesame}", "${opensesame}", false},
		{"mcpServers.x.headers.Authorization", "Bearer ${opensesame}", "${opensesame}", false},
		{"mcpServers.x.args", "--token,opensesame", settings.Hidden, true},
		{"mcpServers.x.httpUrl", "https://u:opensesame@host/", settings.Hidden, true},
		{"model.name", "opensesame", "opensesame", false},
	} {
		w, out, told := desk(t)
		args := []string{"config", "set", c.key, c.value}
		err := errors.Join(w.run(t.Context(), args), w.run(t.Context(), args), w.run(t.Context(), append(args, "--json")), w.run(t.Context(), []string{"config", "unset", c.key}))
		said := out.String() + strings.Join(*told, "\n")
		if err != nil || !strings.Contains(out.String(), c.shown) || strings.Contains(said, "opensesame") != strings.Contains(c.shown, "opensesame") ||
			strings.Contains(said, "no place for a secret") != c.warned {
			t.Errorf("%s: %v\n%s", c.key, err, said)
		}
	}
}

// Inside a session, and where no home is, things are said differently.
func TestConfigSetElsewhere(t *testing.T) {
	w, _, told := desk(t)
	w.In = nil
	if err := w.run(t.Context(), []string{"config", "set", "model.name", "x"}); err != nil || len(*told) != 1 || !strings.Contains((*told)[0], "next start") {
		t.Errorf("%v, %q", err, *told)
	}
	*told = nil
	if err := w.run(t.Context(), []string{"config", "set", "model.name", "x"}); err != nil || *told != nil {
		t.Errorf("a change that is none: %v, %q", err, *told)
	}
	w.Flags.Model = "y"
	if err := w.run(t.Context(), []string{"config", "set", "model.name", "v"}); err != nil || len(*told) != 1 || !strings.Contains((*told)[0], "next start") {
		t.Errorf("in a session the flag is of no account: %v, %q", err, *told)
	}
	w.In = strings.NewReader("")
	if err := w.run(t.Context(), []string{"config", "set", "model.name", "z"}); err != nil || !strings.Contains(strings.Join(*told, "\n"), `it is "y" by flag --model`) {
		t.Errorf("%v, %q", err, *told)
	}
	w.Paths.Home = ""
	if err := w.run(t.Context(), []string{"config", "set", "model.name", "x"}); err == nil || !strings.Contains(err.Error(), "no home directory") {
		t.Error(err)
	}
}
