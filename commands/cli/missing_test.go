package cli

import (
	"strings"
	"testing"
)

// What is a sub-command of the Gemini CLI is no prompt; what only begins like
// one is.
func TestMissing(t *testing.T) {
	for words, want := range map[string]string{
		"mcp":                       "gemline mcp: this version has no MCP servers yet",
		"mcp list":                  "gemline mcp list: this",
		"mcp add x npx y":           "gemline mcp add: this",
		"--json mcp list":           "gemline mcp list: this",
		"mcp --json":                "gemline mcp --json: this",
		"extension install x":       "--list-extensions lists them",
		"skills list":               "no skills",
		"gemma status":              "no local models",
		"mcp servers are what":      "",
		"skills":                    "no skills",
		"hook up the logger":        "",
		"extensions of Go's syntax": "",
		"-- mcp list":               "",
		"-p mcp":                    "",
		"what mcp":                  "",
		"":                          "",
	} {
		err := Missing(strings.Fields(words))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}
