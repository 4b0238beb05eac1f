package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gemline/engine/disk"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// env returns the lookup of an environment.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// files writes files of settings, the weakest first.
func files(t *testing.T, texts ...string) []Source {
	t.Helper()
	var out []Source
	for i, text := range texts {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out = append(out, Source{Path: path})
	}
	return out
}

// layer returns what a text says.
func layer(text string, lookup func(string) (string, bool)) Layer {
	l := Layer{Source: Source{Path: "f"}}
	if l.doc, l.Err = jsonc.Parse("f", []byte(text)); l.doc != nil {
		l.digest(lookup)
	}
	return l
}

// alike leaves out what is not a field of its own.
var alike = cmpopts.IgnoreFields(Settings{}, "Merged", "layers")

func TestDefault(t *testing.T) {
	got, warnings, err := Load([]Source{{Path: filepath.Join(t.TempDir(), "none.json")}, {Path: ""}, {Path: os.DevNull}}, env())
	if err != nil || warnings != nil {
		t.Fatal(warnings, err)
	}
	want := Default()
	if d := cmp.Diff(want, got, alike); d != "" {
		t.Error(d)
	}
	if want.MaxTurns != -1 || want.Threshold != 40_000 || !want.Redact || want.Pager != "cat" || want.ApprovalMode != "default" {
		t.Errorf("%+v", want)
	}
}

func TestMerge(t *testing.T) {
	got, warnings, err := Load(files(t,
		`{"model": {"name": "a", "maxSessionTurns": 3}, "context": {"includeDirectories": ["x", "y"], "fileName": ["A.md"],
		  "fileFiltering": {"customIgnoreFilePaths": ["i", "j"]}}}`,
		`{"model": {"name": "b"}, "context": {"includeDirectories": ["y", "z"], "fileName": "B.md",
		  "fileFiltering": {"customIgnoreFilePaths": ["j", "k"]}}}`), env())
	if err != nil || warnings != nil {
		t.Fatal(warnings, err)
	}
	want := Default()
	want.Model, want.MaxTurns = "b", 3
	want.IncludeDirs = []string{"x", "y", "y", "z"}
	want.FileNames = []string{"B.md"}
	want.IgnoreFiles = []string{"i", "j", "k"}
	if d := cmp.Diff(want, got, alike); d != "" {
		t.Error(d)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		name, text, warning string
		change              func(*Settings)
	}{
		{"UTF-16", "\xfe\xff\x00" + strings.Join(strings.Split(`{"model": {"name": "m"}}`, ""), "\x00"), "", func(s *Settings) { s.Model = "m" }},
		{"comments", "\ufeff// a\n{/* b */ \"model\": {\"name\": \"m\",},}", "", func(s *Settings) { s.Model = "m" }},
		{"ends in a comment", `{"model": {"name": "m"}} // c`, "", func(s *Settings) { s.Model = "m" }},
		{"empty", " \n", "", nil},
		{"spelled number", `{"general": {"maxAttempts": "3"}}`, "", func(s *Settings) { s.MaxAttempts = 3 }},
		{"spelled truth", `{"tools": {"useRipgrep": "false"}}`, "", func(s *Settings) { s.Ripgrep = false }},
		{"not a number", `{"general": {"maxAttempts": "many"}}`, `general.maxAttempts must be a whole number from 1 to 10, not "many"`, nil},
		{"a fraction", `{"general": {"maxAttempts": 1.5}}`, "general.maxAttempts must be a whole number from 1 to 10, not 1.5", nil},
		{"too large", `{"general": {"maxAttempts": 1e300}}`, "general.maxAttempts must be a whole number from 1 to 10, not 1e300; it counts as 10", nil},
		{"too small", `{"general": {"maxAttempts": 0}}`, "general.maxAttempts must be a whole number from 1 to 10, not 0", nil},
		{"too small as a text", `{"general": {"maxAttempts": "-5"}}`, `general.maxAttempts must be a whole number from 1 to 10, not "-5"`, nil},
		{"a percentage", `{"model": {"compressionThreshold": 70}}`, "model.compressionThreshold must be a number from 0.001 to 1, not 70; it counts as 1", func(s *Settings) { s.Compression = 1 }},
		{"no limit", `{"model": {"maxSessionTurns": -5}}`, "", func(s *Settings) { s.MaxTurns = -5 }},
		{"practically no limit", `{"model": {"maxSessionTurns": 1e18}}`, "model.maxSessionTurns must be a whole number, not 1e18; it counts as 2147483647", func(s *Settings) { s.MaxTurns = 2147483647 }},
		{"a list", `{"model": {"name": ["a"]}}`, "model.name must be a string, not a list", nil},
		{"null", `{"model": {"name": null}}`, "model.name must be a string, not null", nil},
		{"mixed list", `{"context": {"includeDirectories": ["a", 1]}}`, "context.includeDirectories must be a list of strings, and 1 in it is none", nil},
		{"not an object", `{"tools": "m"}`, `tools must be an object, not "m"`, nil},
		{"infinite", `{"general": {"maxAttempts": 1e999, "retryFetchErrors": true}}`, "general.maxAttempts must be a whole number from 1 to 10, not 1e999; it counts as 10", nil},
		{"twice", `{"model": {"name": "a", "name": "b"}}`, "model.name is given more than once; the last one counts", func(s *Settings) { s.Model = "b" }},
		{"twice as an object", `{"model": {"name": "a"}, "model": {"maxSessionTurns": 1}}`, "model is given more than once; the last one counts", func(s *Settings) { s.MaxTurns = 1 }},
		{"yolo", `{"general": {"defaultApprovalMode": "yolo"}}`, `general.defaultApprovalMode must be one of default, auto_edit, auto, plan, not "yolo"`, nil},
		{"an older name", `{"tools": {"approvalMode": "plan"}}`, "", func(s *Settings) { s.ApprovalMode = "plan" }},
		{"both names", `{"tools": {"approvalMode": "plan"}, "general": {"defaultApprovalMode": "auto_edit"}}`, "", func(s *Settings) { s.ApprovalMode = "auto_edit" }},
		{"elsewhere", `{"screenReader": true}`, `"screenReader" is not a setting; did you mean ui.accessibility.screenReader?`, nil},
		{"a variable without a value", `{"context": {"fileName": ["$C", "${C}x", "$5", "$"]}}`, "context.fileName: C is not set in the environment, so it stays as written", func(s *Settings) { s.FileNames = []string{"$C", "${C}x", "$5", "$"} }},
		{"flat", `{"model": "m", "theme": "x", "fileFiltering": {"respectGitIgnore": false}}`, "", func(s *Settings) { s.Model, s.RespectGit = "m", false }},
		{"misspelled", `{"tools": {"useRipGrap": true}}`, `"tools.useRipGrap" is not a setting; did you mean tools.useRipgrep?`, nil},
		{"with a dot", `{"a.b": 1}`, "\"a.b\" is not a setting", nil},
		{"with a dot below another", `{"tools": {"a.b": 1}}`, "tools.\"a.b\" is not a setting", nil},
		{"an older switch of hooks", `{"tools": {"enableHooks": true}}`, `"tools.enableHooks" is not a setting; did you mean hooksConfig.enabled?`, nil},
		{"one group of hooks", `{"hooks": {"BeforeTool": {"matcher": "*"}}}`, `hooks.BeforeTool must be a list of objects, not an object; it counts as a list of 1`, nil},
		{"an older list of hooks", `{"hooks": {"enabled": ["a"]}}`, `hooks.enabled must be a list of objects, and "a" in it is none`, nil},
		{"a server that is off", `{"mcpServers": {"s": {"command": "x", "disabled": true}}}`, "", func(s *Settings) {}},
		{"nonsense", `{"zzzzzzzzzzzz": 1}`, `"zzzzzzzzzzzz" is not a setting`, nil},
		{"of others", `{"mcpServers": {"a": {"command": "b"}}, "hooks": {"X": []}, "ui": {"hideTips": true}, "$schema": "s"}`, "", nil},
		{"a skill that is off", `{"skills": {"disabled": "a"}}`, `skills.disabled must be a list of strings, not "a"; it counts as a list of 1`, func(s *Settings) { s.DisabledSkills = []string{"a"} }},
		{"no path among others", `{"policyPaths": ["", 1, "a"]}`, "policyPaths must be a list of strings, and 1 in it is passed over\n:1: policyPaths: an empty path in it is passed over", func(s *Settings) { s.PolicyPaths = []string{"a"} }},
		{"no path", `{"policyPaths": ["", "a"], "context": {"includeDirectories": ["x"]}}`, "policyPaths: an empty path in it is passed over", func(s *Settings) { s.PolicyPaths, s.IncludeDirs = []string{"a"}, []string{"x"} }},
		{"a variable", `{"model": {"name": "${A}-$B-${C:-c}-$C"}}`, "model.name: C is not set in the environment, so it stays as written", func(s *Settings) { s.Model = "1-2-c-$C" }},
		{"keys have none", `{"$A": 1}`, `"$A" is not a setting`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := files(t, c.text)
			got, warnings, err := Load(src, env("A", "1", "B", "2"))
			if err != nil {
				t.Fatal(err)
			}
			want := Default()
			if c.change != nil {
				c.change(want)
			}
			if d := cmp.Diff(want, got, alike); d != "" {
				t.Error(d)
			}
			warning := strings.TrimLeft(strings.ReplaceAll(strings.Join(warnings, "\n"), src[0].Path, ""), ":0123456789 ")
			if warning != c.warning {
				t.Errorf("warning %q, want %q", warning, c.warning)
			}
			if b, _ := os.ReadFile(src[0].Path); string(b) != c.text {
				t.Errorf("the file is now %q", b)
			}
		})
	}
}

// TestAuto says that one model is none to choose from.
func TestAuto(t *testing.T) {
	for of, want := range map[string]int{`{"large": "x/a"}`: 1, `{"small": "x/a"}`: 1, `{"large": "x/a", "small": "x/b"}`: 0, `{}`: 0} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(`{"model": {"auto": `+of+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, warnings, err := Load([]Source{{Path: path, Scope: User}}, env()); err != nil || len(warnings) != want {
			t.Errorf("%s: %q, %v", of, warnings, err)
		}
	}
}

// A budget that a file gives counts.
func TestSummaries(t *testing.T) {
	s, _, err := Load(files(t, `{"model": {"summarizeToolOutput": {"a": {"tokenBudget": 50}, "b": {}}}}`), env())
	if d := cmp.Diff(map[string]int{"a": 50, "b": 2000}, s.Summaries()); err != nil || d != "" {
		t.Error(err, d)
	}
}

func TestManyMistakes(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "%q: %d,", fmt.Sprintf("zzzz%d%s", i, strings.Repeat("y", 300)), i)
	}
	_, warnings, err := Load(files(t, "{"+b.String()+"}"), env())
	if err != nil || len(warnings) != maxWarnings+1 || !strings.HasSuffix(warnings[maxWarnings], "and 995 more like this") {
		t.Errorf("%d warnings, %v", len(warnings), err)
	}
}

func TestUnusableFile(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		line, column int
		message      string
	}{
		{"no comma", "{\n  \"a\": 1\n  \"b\": 2}", 3, 3, "invalid character '\"' after object value (expecting ',' or '}')"},
		{"an escape", "{\"a\": \x1b\n", 1, 7, "invalid character '\\u001b' at start of value (expecting a name or a value; texts stand in double quotes)"},
		{"a line end in a string", "{\n\"a\": \"hunter2\n\"}", 2, 6, "is no valid string, number or word of JSON (expecting a name or a value; texts stand in double quotes)"},
		{"a path of Windows", "{\"a\": [\"b\",\n \"C:\\Users\\me\"]}", 2, 5, "\\U in a text means nothing in JSON; a backslash, as in paths of Windows, is written \\\\"},
		{"a path of Windows in small letters", "{\"a\": \"C:\\users\"}", 1, 10, "\\u in a text means nothing in JSON; a backslash, as in paths of Windows, is written \\\\"},
		{"cut off", "{\"model\": {", 1, 12, "the file ends in the middle (expecting a name, a value or a closing bracket)"},
		{"cut off behind a name", "{\"model\"", 1, 9, "the file ends in the middle (expecting ':')"},
		{"cut off behind a value", "{\"a\": 1", 1, 8, "the file ends in the middle (expecting ',' or '}')"},
		{"cut off in a list", "{\"a\": [1", 1, 9, "the file ends in the middle (expecting ',' or ']')"},
		{"an open comment", "{ /*", 1, 3, "the file ends in the middle (expecting the end of a comment, */)"},
		{"no colon", "{\"a\" 1}", 1, 6, "invalid character '1' after object name (expecting ':')"},
		{"a number for a name", "{1: 1}", 1, 2, "invalid character '1' at start of object name (expecting a name in double quotes, or '}')"},
		{"a list", "\n [1]", 2, 2, "must hold an object: { ... }"},
		{"a word", "true", 1, 1, "must hold an object: { ... }"},
		{"two values", "{} {}", 1, 4, "invalid character '{' after top-level value (expecting the end of the file)"},
		{"not UTF-8", "{\"a\":\n\"\xff\"}", 2, 2, "is not UTF-8"},
		{"deep", "{\"a\":" + strings.Repeat("[", 1<<20), 1, 105, "objects and lists are nested too deep"},
		{"deep behind a comment", "/* \" */ {\"a\":" + strings.Repeat("[", 1<<20), 1, 113, "objects and lists are nested too deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := files(t, `{"model": {"name": "kept"}}`, c.text)
			s, _, err := Load(src, env())
			var got *jsonc.Error
			if !errors.As(err, &got) {
				t.Fatal(err)
			}
			if d := cmp.Diff(&jsonc.Error{Path: src[1].Path, Line: c.line, Column: c.column, Message: c.message}, got); d != "" {
				t.Error(d)
			}
			if s.Model != "kept" {
				t.Error("the other file does not count")
			}
		})
	}
	unusable := func(name, path, message string) {
		t.Run(name, func(t *testing.T) {
			_, _, err := Load([]Source{{Path: path}}, env())
			if err == nil || err.Error() != path+": "+message {
				t.Errorf("%v", err)
			}
		})
	}
	dir := t.TempDir()
	unusable("a directory", dir, "is a directory")
	large := filepath.Join(dir, "large.json")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(100 << 20)
	f.Close()
	unusable("100 MB", large, "is larger than 4 MiB")
	if runtime.GOOS != "windows" {
		unusable("a device", "/dev/zero", "is not a regular file")
		// A home that is no directory, such as /dev/null, holds no settings.
		if _, _, err := Load([]Source{{Path: filepath.Join(large, "x.json")}}, env()); err != nil {
			t.Errorf("below a file: %v", err)
		}
	}
	if os.Getuid() > 0 {
		locked := files(t, "{}")[0].Path
		os.Chmod(locked, 0)
		unusable("unreadable", locked, "permission denied")
	}
}

func TestGuarded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system's own rules hold here")
	}
	src := files(t, `{"model": {"name": "x"}}`)
	src[0].Guarded = true
	os.Chmod(src[0].Path, 0o666)
	s, warnings, err := Load(src, env())
	if err != nil || s.Model != "" || len(warnings) != 1 || !strings.Contains(warnings[0], "is passed over: ") {
		t.Errorf("%q, %q, %v", s.Model, warnings, err)
	}
	if why := disk.WorldWritable(filepath.Join(t.TempDir(), "none")); why != "" {
		t.Error("not there, but", why)
	}
	if info, err := os.Stat("/etc/passwd"); err == nil && info.Mode().Perm()&0o022 == 0 {
		if why := disk.WorldWritable("/etc/passwd"); why != "" {
			t.Error(why)
		}
	}
}

func TestSources(t *testing.T) {
	p := project.New("/home/u", "", "/src/app")
	paths := func(p project.Paths, lookup func(string) (string, bool), workspace bool) (out []string) {
		for _, s := range Sources(p, lookup, workspace) {
			out = append(out, filepath.ToSlash(s.Path))
		}
		return out
	}
	if runtime.GOOS != "linux" {
		t.Skip("the paths of Linux")
	}
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"usual", paths(p, env(), true), []string{"/etc/gemini-cli/system-defaults.json", "/home/u/.gemini/settings.json", "/src/app/.gemini/settings.json", "/etc/gemini-cli/settings.json"}},
		{"not trusted", paths(p, env(), false), []string{"/etc/gemini-cli/system-defaults.json", "/home/u/.gemini/settings.json", "/etc/gemini-cli/settings.json"}},
		{"at home", paths(project.New("/home/u", "", "/home/u"), env(), true), []string{"/etc/gemini-cli/system-defaults.json", "/home/u/.gemini/settings.json", "/etc/gemini-cli/settings.json"}},
		{"elsewhere", paths(p, env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/opt/s.json"), false), []string{"/opt/system-defaults.json", "/home/u/.gemini/settings.json", "/opt/s.json"}},
		{"not of the project", paths(p, env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "~/s.json", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "~/d.json"), false), []string{"/home/u/d.json", "/home/u/.gemini/settings.json", "/home/u/s.json"}},
		{"both elsewhere", paths(p, env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/opt/s.json", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "/d.json"), false), []string{"/d.json", "/home/u/.gemini/settings.json", "/opt/s.json"}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestExpand(t *testing.T) {
	long := strings.Repeat("x", 1000)
	lookup := env("A", "1", "EMPTY", "", "LONG", long, "SELF", "$A")
	for in, want := range map[string]string{
		"$A": "1", "${A}b": "1b", "$Ab": "$Ab", "$": "$", "$$A": "$1", "${}": "${}", "${A": "${A", "${A:-x}": "1",
		"${B:-x y}": "x y", "${B:-}": "", "${EMPTY:-x}": "", "${B-x}": "${B-x}", "$B": "$B", "a$EMPTY.b": "a.b", "$SELF": "$A", "${A}}": "1}",
	} {
		if got, err := expandText(in, lookup, nil); got != want || err != nil {
			t.Errorf("%q becomes %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := expandText(strings.Repeat("$LONG", 1000), lookup, nil); err == nil {
		t.Error("no limit")
	}
}

func TestOverride(t *testing.T) {
	s := Default()
	s.Model, s.IncludeDirs = "file", []string{"a"}
	if err := s.Override(&flags.Set{}, env("GEMINI_MODEL", " env ")); err != nil || s.Model != "env" || s.ApprovalMode != "default" {
		t.Errorf("%+v, %v", s, err)
	}
	s.NoYolo = true
	err := s.Override(&flags.Set{Model: "flag", Yolo: true, MaxTurns: 2, MaxAttempts: 3, JSON: true, IncludeDirs: []string{"b"}}, env("GEMINI_MODEL", "env"))
	var never *ForbiddenError
	if !errors.As(err, &never) {
		t.Error(err)
	}
	if s.Model != "flag" || s.MaxTurns != 2 || s.MaxAttempts != 3 || s.Format != "json" || strings.Join(s.IncludeDirs, " ") != "a b" {
		t.Errorf("%+v", s)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte("{\"model\": {\"name\": \"${A:-b}\"}, \"x\": [1, /* c */ 2,],}"))
	f.Add([]byte("\ufeff{\"a\":{\"b\":\"\\ud800\"}}"))
	f.Add([]byte("{\"general\":{\"maxAttempts\":1e999}}"))
	f.Add([]byte("{\"a\":{\"b\":0,\"b\":[-1.50e2,\"\\u00e9\\/\"]},\"a\":{}}"))
	for _, loose := range []string{`"general":{"defaultApprovalMode":"auto_edit","notificationCommand":"x"}`, `"security":{"disableYoloMode":false,"disableAlwaysAllow":false,"toolSandboxing":false}`,
		`"security":{"environmentVariableRedaction":{"enabled":false,"allowed":["X"],"blocked":[]},"folderTrust":{"enabled":false}}`, `"tools":{"allowed":["x"],"exclude":[],"shell":{"pager":"x"}}`,
		`"tools":{"sandboxAllowedPaths":["/"],"sandboxNetworkAccess":true,"sandbox":{"enabled":false,"allowedPaths":["/"],"networkAccess":true,"command":"x"}}`,
		`"policyPaths":["x"],"adminPolicyPaths":["x"],"ui":{"labels":{"gemini":"x"}}`, `"allowedTools":["x"],"excludeTools":[],"tools.approvalMode":"auto_edit"`} {
		f.Add([]byte("{" + loose + "}"))
	}
	strict := layer(`{"security":{"disableYoloMode":true,"disableAlwaysAllow":true,"toolSandboxing":true,"environmentVariableRedaction":{"blocked":["B"]}},"tools":{"exclude":["E"]}}`, env())
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := jsonc.Parse("f", b)
		if err != nil {
			var fe *jsonc.Error
			if !errors.As(err, &fe) || strings.Contains(fe.Message, "\n") || fe.Line < 0 || (fe.Line > 0) != (fe.Column > 0) {
				t.Errorf("%#v", err)
			}
			return
		}
		var plain map[string]any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if json.Valid(b) && d.Decode(&plain) == nil && plain != nil && !cmp.Equal(doc.Tree, plain) {
			t.Errorf("%q is read as %v", b, cmp.Diff(plain, doc.Tree))
		}
		s := Default()
		l := layer(string(b), env("A", "1"))
		s.take(mergeAll([]Layer{l}))
		if d := cmp.Diff(Default().ApprovalMode, s.ApprovalMode); d != "" && s.ApprovalMode != "auto_edit" && s.ApprovalMode != "plan" {
			t.Error(d)
		}
		// A project's file takes back nothing.
		l = Layer{Source: Source{Scope: Workspace, Path: "f"}}
		if l.doc, l.Err = jsonc.Parse("f", b); l.doc == nil {
			t.Fatal(l.Err)
		}
		l.digest(env("A", "1"))
		l.restrictApprovalMode(mergeAll([]Layer{strict}))
		s = Default()
		s.take(mergeAll([]Layer{strict, l}))
		if s.ApprovalMode != "default" && s.ApprovalMode != "plan" || !s.NoYolo || !s.NoAlways || !s.ToolSandboxing || !s.Redact || !s.FolderTrust || s.SandboxNetwork ||
			len(s.AllowedVars)+len(s.AllowedTools)+len(s.PolicyPaths)+len(s.AdminPolicyPaths)+len(s.SandboxPaths)+len(s.Labels()) > 0 ||
			!slices.Contains(s.BlockedVars, "B") || !slices.Contains(s.ExcludedTools, "E") || s.Pager != "cat" || s.NotifyCommand != "" {
			t.Errorf("a project that says %s makes of it %+v", b, s)
		}
	})
}

// The browser agent is named only where it is switched on.
func TestUnusedAgent(t *testing.T) {
	for text, want := range map[string]string{
		`{"agents": {"browser": {"headless": true}}}`:                      "",
		`{"agents": {"overrides": {"browser_agent": {"enabled": false}}}}`: "",
		`{"agents": {"overrides": {"browser_agent": {"enabled": true}}}}`:  "agents.overrides.browser_agent.enabled",
	} {
		s, _, err := Load(files(t, text), env())
		if got := UnusedSummary(s.Unused(env())); err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
