package settings

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every key is complete, and its default is a value that it may have.
func TestKeys(t *testing.T) {
	keys := Keys()
	if len(keys) < 200 || !slices.IsSortedFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("%d keys, or not in order", len(keys))
	}
	kinds := []string{isBool, isWhole, isNumber, isText, isAge, isCharset, isList, isObjects, isObject, isAny}
	merges := []string{"", "concat", "union", "shallow", "intersect"}
	seen := map[string]bool{}
	for _, k := range keys {
		if seen[k.Name] {
			t.Errorf("%s is there twice", k.Name)
		}
		seen[k.Name] = true
		if !strings.HasSuffix(k.Help, ".") || k.Status != Used && k.Status != Later && k.Status != Ignored || !slices.Contains(merges, k.Merge) {
			t.Errorf("%+v", k)
		}
		for _, kind := range k.kinds() {
			if !slices.Contains(kinds, kind) {
				t.Errorf("%s is of an unknown type %q", k.Name, kind)
			}
		}
		if v := k.Default(); v != nil {
			if got, err := k.coerce(v); err != nil || !cmp.Equal(got, v) {
				t.Errorf("%s: the default %v: %v", k.Name, v, err)
			}
		}
		if got, ok := FindKey(k.Name); !ok || got.Type != k.Type {
			t.Errorf("%s is not found", k.Name)
		}
		if many := strings.Contains(k.Name, "<") || strings.HasPrefix(k.Name, "tools.sandbox") || strings.HasPrefix(k.Name, "modelConfigs.") || k.Name == "agents.overrides" || k.Name == "providers" || strings.HasPrefix(k.Name, "model.summarize") || strings.HasPrefix(k.Name, "model.roles.") || strings.HasPrefix(k.Name, "model.auto.") || strings.HasPrefix(k.Name, "mcp") && k.Name != "mcp.connectSeconds"; (k.field != nil) != (k.Status == Used) && !many { // those are in Merged
			t.Errorf("%s: a field, and %s", k.Name, k.Status)
		}
	}
}

// Each key has one entry, and the committed table is what keys.txt and the fields make.
func TestTable(t *testing.T) {
	taken := map[string]bool{}
	for _, k := range table {
		if taken[k.Name] {
			t.Errorf("%s has two entries", k.Name)
		}
		taken[k.Name] = true
	}
	made := filepath.Join(t.TempDir(), "table.go")
	if out, err := exec.Command("go", "run", "-trimpath", "./testdata/keys", made).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if committed, err := os.ReadFile("table.go"); err != nil || !bytes.Equal(committed, want) {
		t.Errorf("table.go is not what keys.txt and settings.go make: go generate ./settings (%v)", err)
	}
}

func TestFindKey(t *testing.T) {
	for name, want := range map[string]string{
		"model.name": isText, "model": isObject, "mcpServers": isObject, "mcpServers.git": isObject, `mcpServers."my.server".command`: isText,
		"mcpServers.git.env.HOME": isText + " or " + isBool + " or " + isNumber, "mcpServers.git.comand": "", "mcpServers.git.command.x": "", "hooks.BeforeTool": isObjects, "hooks.Whenever": isObjects,
		"agents.overrides.x.enabled": isBool, "modelConfigs.aliases.x.y.z": "", "modelConfigs.aliases.x.modelConfig.generateContentConfig.z": isAny, "model.nam": "", "": "", ".": "", "model.": "", `"model.name"`: "",
		"context.fileName": isText + " or " + isList, "ui.customThemes.x": isAny,
	} {
		if k, ok := FindKey(name); k.Type != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, k.Type, ok, want)
		}
	}
	if k, _ := FindKey("hooks.BeforeTool"); k.Merge != "concat" || k.Name != "hooks.BeforeTool" {
		t.Errorf("%+v", k)
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"model.nam": "model.name", "maxAttempts": "general.maxAttempts", "mcpServers.git.comand": "mcpServers.git.command", "MODEL.NAME": "model.name",
		`mcpServers."a.b".urll`: `mcpServers."a.b".url`, "zzzzzzzzzzzzz": "", "general.vimmode": "general.vimMode", strings.Repeat("x", 1000): "",
		"mcpServers.git.transport": "mcpServers.git.type", "mcpServers.git.serverUrl": "mcpServers.git.httpUrl",
		"mcpServers.git.tools": "", "env": "", "agents.tools": "agents.overrides.<name>.tools",
		"modle": "model", "mcpServer": "mcpServers", "tool": "tools", "ui.foter": "ui.footer", "Security": "security", "a1": "", "x": "",
	} {
		if got := Nearest(name); got != want {
			t.Errorf("%.40s: %q, want %q", name, got, want)
		}
	}
}

func TestParseAndCheck(t *testing.T) {
	for _, c := range []struct {
		key, text string
		want      any
		wrong     string
	}{
		{"general.vimMode", "true", true, ""},
		{"general.vimMode", "yes", nil, `general.vimMode must be true or false, not "yes"`},
		{"general.maxAttempts", "3", json.Number("3"), ""},
		{"model.maxSessionTurns", "-3", json.Number("-3"), ""},
		{"general.maxAttempts", "-3", nil, `general.maxAttempts must be a whole number from 1 to 10, not "-3"`},
		{"general.maxAttempts", "11", nil, `general.maxAttempts must be a whole number from 1 to 10, not "11"`},
		{"mcp.connectSeconds", "-1", nil, `mcp.connectSeconds must be a whole number of at least 0, not "-1"`},
		{"general.maxAttempts", "3.5", nil, `general.maxAttempts must be a whole number from 1 to 10, not "3.5"`},
		{"general.maxAttempts", "1e99", nil, `general.maxAttempts must be a whole number from 1 to 10, not "1e99"`},
		{"model.compressionThreshold", "0.5", json.Number("0.5"), ""},
		{"model.compressionThreshold", "NaN", nil, `model.compressionThreshold must be a number from 0.001 to 1, not "NaN"`},
		{"model.name", "-x", "-x", ""},
		{"model.name", "a\xff", nil, `model.name must be a string, not "a\xff"`},
		{"output.format", "json", "json", ""},
		{"output.format", "xml", nil, `output.format must be text or json, not "xml"`},
		{"ui.loadingPhrases", "some", nil, `ui.loadingPhrases must be one of tips, witty, all, off, not "some"`},
		{"tools.exclude", "a, b", []any{"a", "b"}, ""},
		{"tools.exclude", `["a, b"]`, []any{"a, b"}, ""},
		{"tools.exclude", "", []any{}, ""},
		{"tools.exclude", `[1]`, nil, `tools.exclude must be a list of strings, not "[1]"`},
		{"context.fileName", "A.md", []any{"A.md"}, ""},
		{"tools.sandbox", "true", true, ""},
		{"tools.sandbox", "docker", "docker", ""},
		{"tools.sandbox", `{"enabled": true}`, map[string]any{"enabled": true}, ""},
		{"hooks.BeforeTool", `[{"matcher": "x"}]`, []any{map[string]any{"matcher": "x"}}, ""},
		{"mcpServers.a", `{"command": "x", /* y */ }`, map[string]any{"command": "x"}, ""},
		{"mcpServers.a.env.X", "1", json.Number("1"), ""},
	} {
		k, ok := FindKey(c.key)
		if !ok {
			t.Fatal(c.key)
		}
		got, err := k.Parse(c.text)
		if wrong := ""; err != nil {
			if wrong = err.Error(); wrong != c.wrong {
				t.Errorf("%s %q: %v, want %s", c.key, c.text, err, c.wrong)
			}
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" || c.wrong != "" {
			t.Errorf("%s %q: %s", c.key, c.text, d)
		}
		if err := k.Check(got); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		key   string
		v     any
		wrong string
	}{
		{"mcpServers.a", map[string]any{"comand": "x"}, `"mcpServers.a.comand" is not a setting; did you mean mcpServers.a.command?`},
		{"mcpServers", map[string]any{"a": map[string]any{"args": "x"}}, `mcpServers.a.args must be a list of strings, not "x"`},
		{"model.name", 1, "model.name must be a string, not 1"},
		{"general.maxAttempts", 2.0, ""},
		{"general.maxAttempts", "2", ""},
		{"modelConfigs.aliases.x", []any{nil}, "modelConfigs.aliases.x must be an object, not a list"},
	} {
		k, _ := FindKey(c.key)
		said := ""
		if err := k.Check(c.v); err != nil {
			said = err.Error()
		}
		if said != c.wrong {
			t.Errorf("%s: %q, want %q", c.key, said, c.wrong)
		}
	}
}

func TestSplitKey(t *testing.T) {
	for name, want := range map[string][]string{
		"a": {"a"}, "a.b": {"a", "b"}, `a."b.c".d`: {"a", "b.c", "d"}, `""`: {""}, `"\u0061"`: {"a"}, `a"b`: {`a"b`},
		"": nil, "a.": nil, ".a": nil, "a..b": nil, `"a`: nil, `"a"b`: nil,
	} {
		got, err := SplitKey(name)
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%s: %s, %v", name, d, err)
		}
	}
}

func FuzzSplitKey(f *testing.F) {
	f.Add(`a."b.c".d`)
	f.Add("\"\\u0000\".\xff")
	f.Fuzz(func(t *testing.T, name string) {
		FindKey(name)
		path, err := SplitKey(name)
		if err != nil {
			return
		}
		again, err := SplitKey(JoinKey(path))
		for i, part := range path {
			path[i] = strings.ToValidUTF8(part, "\ufffd")
		}
		for i := range again {
			if again[i] = strings.ToValidUTF8(again[i], "\ufffd"); err != nil || len(again) != len(path) {
				break
			}
		}
		if err != nil || len(again) != len(path) {
			t.Errorf("%q: %q, %v", path, again, err)
		}
	})
}
