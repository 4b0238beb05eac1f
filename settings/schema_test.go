package settings

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gemline/settings/jsonc"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile("../docs/settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixture returns a file of a script.
func fixture(t *testing.T, script, name string) string {
	t.Helper()
	b, err := os.ReadFile("../commands/program/acceptance/" + script)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(b), "\n-- "+name+" --\n")
	if !ok {
		t.Fatalf("no %s in %s", name, script)
	}
	text, _, _ := strings.Cut(after, "\n-- ")
	return text
}

// What the program takes without a word, the schema takes, and the opposite.
func TestSchema(t *testing.T) {
	schema := compiled(t)
	for _, c := range []struct {
		name, text string
		valid      bool
	}{
		{"a file of years", fixture(t, "pipes/config.txtar", "years.json"), true},
		{"a project's", fixture(t, "pipes/config.txtar", "project.json"), true},
		{"mistakes", fixture(t, "pipes/config.txtar", "odd.json"), false},
		{"nothing", `{}`, true},
		{"not an object", `[]`, false},
		{"unknown", `{"modle": {}}`, false},
		{"unknown below", `{"model": {"nam": "x"}}`, false},
		{"a flat model", `{"model": "x"}`, true},
		{"a word", `{"general": {"defaultApprovalMode": "plan"}}`, true},
		{"a wrong word", `{"general": {"defaultApprovalMode": "yolo"}}`, false},
		{"a variable", `{"general": {"defaultApprovalMode": "$MODE", "maxAttempts": "${N:-3}", "vimMode": "$VI"}}`, true},
		{"spelled out", `{"general": {"maxAttempts": "3", "vimMode": "true"}, "model": {"compressionThreshold": "0.7"}}`, true},
		{"misspelled", `{"general": {"maxAttempts": "three"}}`, false},
		{"too large", `{"general": {"maxAttempts": 11}}`, false},
		{"too small", `{"model": {"compressionThreshold": 0}}`, false},
		{"a fraction", `{"general": {"maxAttempts": 1.5}}`, false},
		{"a string for a list", `{"tools": {"exclude": "a"}}`, false},
		{"a string or a list", `{"context": {"fileName": "a"}}`, true},
		{"a mixed list", `{"tools": {"exclude": ["a", 1]}}`, false},
		{"a server", `{"mcpServers": {"a": {"command": "b", "args": ["c"], "env": {"D": "e"}, "oauth": {"scopes": []}}}}`, true},
		{"a server with more", `{"mcpServers": {"a": {"comand": "b"}}}`, false},
		{"a server that is none", `{"mcpServers": {"a": "b"}}`, false},
		{"an unknown event", `{"hooks": {"Whenever": [{"hooks": []}]}}`, true},
		{"an event that is none", `{"hooks": {"BeforeTool": ["x"]}}`, false},
		{"a sandbox", `{"tools": {"sandbox": true}}`, true},
		{"a sandbox by name", `{"tools": {"sandbox": "docker"}}`, true},
		{"a sandbox in full", `{"tools": {"sandbox": {"enabled": true, "allowedPaths": ["/x"]}}}`, true},
		{"a sandbox with more", `{"tools": {"sandbox": {"enable": true}}}`, false},
	} {
		v, err := jsonc.Value([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.name, err)
		}
		l := layer(c.text, env("MODE", "plan", "VI", "true"))
		l.Problems = slices.DeleteFunc(l.Problems, func(p Problem) bool { return p.unset })
		if c.valid != (l.Err == nil && len(l.Problems) == 0) {
			t.Errorf("%s: the program says %v, %v", c.name, l.Err, l.Problems)
		}
	}
}
