package commands_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/repl/input"
)

// TestAuth runs the sub-commands, and repeats nothing that may be a key.
func TestAuth(t *testing.T) {
	for line, want := range map[string]string{
		"/auth":                   "auth status",
		"/auth status":            "auth status",
		"/auth use vertex-ai":     "auth use vertex-ai",
		"/auth login":             "auth set-key",
		"/auth signin":            "auth set-key",
		"/auth logout":            "auth signout",
		"/auth use":               "error: which type?",
		"/auth use a b":           "error: which type?",
		"/auth login AIza-secret": "error: /auth has",
		"/auth AIza-secret":       "error: /auth has",
	} {
		t.Run(line, func(t *testing.T) {
			app, _ := session(t)
			got := ""
			app.Manage = func(_ context.Context, args ...string) error {
				got = strings.Join(args, " ")
				return nil
			}
			if _, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)}); err != nil {
				got = "error: " + err.Error()
			}
			if !strings.HasPrefix(got, want) || strings.Contains(got, "AIza") {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// What needs a word says so as it is typed.
func TestMissingWord(t *testing.T) {
	for line, want := range map[string]string{
		"/hooks disable": "/hooks disable needs NAME",
		"/hooks test":    "/hooks test needs EVENT",
		"/policies test": "/policies test needs COMMAND",
	} {
		app, _ := session(t)
		app.Manage = func(context.Context, ...string) error { return nil }
		_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A mistaken word is no folder, of which it would be said that it is trusted, and nothing that
// a list would take.
func TestMistakenWords(t *testing.T) {
	for line, want := range map[string]string{
		"/permissions":             "trust status",
		"/permissions status":      "trust status",
		"/permissions status docs": "trust status -- docs",
		"/permissions ./docs":      "trust status -- ./docs",
		"/permissions --json":      "trust status --json",
		"/permissions lst":         "error: /permissions has no sub-command",
		"/skills all nodesc":       "skills list all nodesc",
		"/skills --all":            "skills list --all",
		"/skills al":               "error: /skills has no sub-command",
		"/extensions --json":       "extensions list --json",
		"/extensions lst":          "error: /extensions has no sub-command",
	} {
		app, _ := session(t)
		got := ""
		app.Manage = func(_ context.Context, args ...string) error {
			got = strings.Join(args, " ")
			return nil
		}
		if _, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)}); err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
