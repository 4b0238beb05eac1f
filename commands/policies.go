package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func policies() *Command {
	return &Command{Name: "policies", Summary: "the rules that say what runs unasked", Run: policyWords("list"), Sub: Set{
		{Name: "list", Summary: "the rules, the strongest first", Run: policyWords("list")},
		{Name: "test", Args: "COMMAND", Summary: "say whether a shell command would run, be asked about or be denied", Run: policyWords("test")},
		{Name: "explain", Args: "TOOL [JSON]", Summary: "the same for a call of a tool, and which rules match it", Run: policyWords("explain")},
		{Name: "revoke", Args: "[FILE:LINE]", Summary: "list what you have allowed for good, and how to take it back", Run: policyWords("revoke")},
	}}
}

// policyWords returns what runs a sub-command of gemline policy. A command is
// one word of it, and so are arguments.
func policyWords(verb string) func(context.Context, *App, string) ([]*genai.Part, error) {
	return func(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
		if app.Manage == nil {
			return nil, outside("policy")
		}
		words := []string{"policy", verb}
		switch args = strings.TrimSpace(args); {
		case args == "":
		case verb == "list":
			return nil, policies().wants(args)
		case verb == "explain":
			name, rest, _ := strings.Cut(args, " ")
			words = append(words, "--", name)
			if rest = strings.TrimSpace(rest); rest != "" {
				words = append(words, rest)
			}
		default:
			words = append(words, "--", args)
		}
		return nil, app.Manage(ctx, words...)
	}
}
