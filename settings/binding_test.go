package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine/text"
	"gemline/settings/jsonc"
)

// scoped returns the settings of a file for each scope; of no text there is none.
func scoped(t *testing.T, defaults, user, project string) *Settings {
	t.Helper()
	var src []Source
	for i, scope := range []Scope{SystemDefaults, User, Workspace} {
		path := filepath.Join(t.TempDir(), ".gemini", "settings.json")
		src = append(src, Source{Path: path, Scope: scope})
		if text := []string{defaults, user, project}[i]; text != "" {
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, _, err := Load(src, env())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What keeps something from running and can't be understood is no leave to run
// it: nobody knows what it was about.
func TestUnclear(t *testing.T) {
	for _, c := range []struct{ name, user, project, want string }{
		{"nothing", ``, ``, ""},
		{"a list", `{"tools":{"exclude":["glob"]}}`, ``, ""},
		{"an object for a list", "{\"tools\":{\n  \"exclude\":{}}}", ``, `:2:3: tools.exclude must be a list of strings, not an object; what it forbids would run`},
		{"a name for a list", `{"tools":{"exclude":"glob","core":["glob",5],"allowed":"ls"},"mcp":{"excluded":"hub"},"policyPaths":"rules.toml"}`, ``, ""},
		{"what is allowed", `{"tools":{"allowed":5}}`, ``, ""},
		{"files of rules", `{"policyPaths":5}`, ``, `:1:2: policyPaths must be `},
		{"the administrator's", `{"adminPolicyPaths":true}`, ``, `:1:2: adminPolicyPaths must be `},
		{"servers", `{"mcp":{"excluded":5}}`, ``, `:1:9: mcp.excluded must be `},
		{"a switch", `{"security":{"disableYoloMode":"on"}}`, ``, ""},
		{"an older name", `{"excludeTools":5}`, ``, `:1:2: excludeTools (now tools.exclude) must be `},
		{"of a project", ``, `{"tools":{"exclude":5}}`, `:1:11: tools.exclude must be `},
		{"what is asked about", `{"tools":{"confirmationRequired":true}}`, ``, `:1:11: tools.confirmationRequired must be `},
		{"what holds them all", `{"tools":["exclude"]}`, ``, `:1:2: tools must be an object, not a list; `},
		{"nothing to keep", `{"tools":{"useRipgrep":"perhaps"},"security":{"auth":5}}`, ``, ""},
		{"a name that is none", `{"tools":{"excluded":"glob"}}`, ``, ""},
		{"of a project, which can't say it", ``, `{"tools":{"allowed":"glob"},"policyPaths":5}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := scoped(t, ``, c.user, c.project).StrictError()
			if wrong := (*jsonc.Error)(nil); err == nil && c.want != "" || err != nil && !errors.As(err, &wrong) ||
				err != nil && (c.want == "" || !strings.HasPrefix(strings.TrimPrefix(err.Error(), text.PrintableLine(wrong.Path)), c.want)) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// What can be made of a value of the wrong type counts, and is said.
func TestSalvaged(t *testing.T) {
	for text, want := range map[string]struct{ key, value, said string }{
		`{"tools":{"exclude":"glob"}}`:              {"tools.exclude", `["glob"]`, `tools.exclude must be a list of strings, not "glob"; it counts as a list of 1`},
		`{"tools":{"exclude":"glob, ls"}}`:          {"tools.exclude", `["glob","ls"]`, `; it counts as a list of 2`},
		`{"tools":{"core":["glob",5]}}`:             {"tools.core", `["glob"]`, `tools.core must be a list of strings, and 5 in it is passed over`},
		`{"tools":{"core":[{}]}}`:                   {"tools.core", `[]`, `and an object in it is passed over`},
		`{"tools":{"core":null}}`:                   {"tools.core", `null`, `tools.core must be a list of strings, not null`},
		`{"security":null}`:                         {"security", `null`, `security must be an object, not null`},
		`{"context":{"includeDirectories":"../x"}}`: {"context.includeDirectories", `null`, `context.includeDirectories must be a list of strings, not "../x"`},
		`{"security":{"disableYoloMode":"on"}}`:     {"security.disableYoloMode", `true`, `security.disableYoloMode must be true or false, not "on"; it counts as true`},
		`{"tools":{"useRipgrep":"perhaps"}}`:        {"tools.useRipgrep", `null`, `tools.useRipgrep must be true or false, not "perhaps"`},
		`{"tools":{"allowed":5}}`:                   {"tools.allowed", `null`, `tools.allowed must be a list of strings, not 5`},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, warnings, err := Load([]Source{{Path: path, Scope: User}}, env())
		v, _ := at(s.Merged, strings.Split(want.key, "."))
		b, _ := json.Marshal(v)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want.said) || string(b) != want.value {
			t.Errorf("%s: %v, %q, %s", text, err, warnings, b)
		}
	}
}

// What files say about a list, and where.
func TestSaid(t *testing.T) {
	for _, c := range []struct{ key, defaults, user, project, want string }{
		{"tools.exclude", ``, ``, ``, ``},
		{"tools.exclude", `{"tools":{"exclude":["a"]}}`, "{\"tools\":\n{\"exclude\":[\"b\",\"c\"]}}", ``, `system-defaults:1:11 [a]; user:2:2 [b c]`},
		{"tools.exclude", ``, `{"tools":{"exclude":["a"]}}`, `{"tools":{"exclude":["a"]}}`, `user:1:11 [a]; workspace:1:11 [a]`},
		{"tools.core", `{"tools":{"core":["a"]}}`, `{"tools":{"core":[]}}`, ``, `user:1:11 []`},
		{"tools.allowed", ``, `{"tools":{"allowed":["a"]}}`, `{"tools":{"allowed":["b"]}}`, `user:1:11 [a]`},
		{"mcp.allowed", `{"mcp":{"allowed":["a","b"]}}`, `{"mcp":{"allowed":["b","c"]}}`, ``, `user:1:9 [b]`},
		{"tools.exclude", ``, `{"excludeTools":["a"]}`, ``, `user:1:2 [a]`},
	} {
		var got []string
		for _, s := range scoped(t, c.defaults, c.user, c.project).Values(c.key) {
			got = append(got, fmt.Sprintf("%s:%d:%d %v", s.Scope, s.Line, s.Column, s.Values))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
}

// Which servers there are, and whose word they are.
func TestServers(t *testing.T) {
	s := scoped(t, `{"mcpServers":{"a":{"command":"x","trust":true}}}`, "{\"mcpServers\":\n{\"b\":{\"trust\":\"perhaps\"},\n\"c\":{\"trust\":true}}}", `{"mcpServers":{"c":{"command":"y"}},"mcp":{"autoAllowInHeadless":true}}`)
	var got []string
	for _, server := range s.Servers() {
		got = append(got, fmt.Sprintf("%s %v %s:%d", server.Name, server.Trusted, server.Scope, server.Line))
	}
	if want := "a true system-defaults:1; c false workspace:1"; strings.Join(got, "; ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !s.Enabled("mcp.autoAllowInHeadless") || s.Enabled("security.disableYoloMode") {
		t.Error("switches")
	}
}

// A folder that is not trusted has no mode that lets more run than default, and
// keeps one that lets less.
func TestConfine(t *testing.T) {
	for mode, want := range map[string]string{"default": "default false", "plan": "plan false", "auto_edit": "default true", "yolo": "default true"} {
		s := &Settings{ApprovalMode: mode}
		if taken := s.Confine(); fmt.Sprint(s.ApprovalMode, " ", taken) != want {
			t.Errorf("%s: %s %v, want %s", mode, s.ApprovalMode, taken, want)
		}
	}
}
