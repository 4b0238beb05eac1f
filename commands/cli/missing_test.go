package cli

import (
	"strings"
	"testing"
)

// What is a sub-command of the Gemini CLI is no prompt; what only begins like
// one is.
func TestMissing(t *testing.T) {
	for words, want := range map[string]string{
		"mcp list":                  "",
		"gemma":                     "gemline gemma: this version runs no local models",
		"gemma setup now":           "gemline gemma setup: this",
		"--json gemma status":       "gemline gemma status: this",
		"gemma --json":              "gemline gemma --json: this",
		"extension install x":       "",
		"gemma status":              "no local models",
		"gemma models are what":     "",
		"skills":                    "",
		"hook up the logger":        "",
		"extensions of Go's syntax": "",
		"-- gemma status":           "",
		"-p gemma":                  "",
		"what gemma":                "",
		"":                          "",
	} {
		err := Missing(strings.Fields(words))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", words, err, want)
		}
	}
}
