package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func authentication() *Command {
	return &Command{Name: "auth", Usual: true, Summary: "how you sign in", Run: authWords("status"), Sub: Set{
		{Name: "status", Summary: "say which credentials the next request uses", Run: authWords("status")},
		{Name: "use", Args: "TYPE", Summary: "choose gemini-api-key, vertex-ai, gateway or compute-default-credentials in your settings", Run: authWords("use")},
		{Name: "signin", Aliases: []string{"login", "set-key"}, Summary: "store an API key that is typed unseen", Run: authWords("set-key")},
		{Name: "signout", Aliases: []string{"logout"}, Summary: "forget the stored key and what was chosen", Run: authWords("signout")},
	}}
}

// authWords returns what runs a sub-command of gemline auth. What a mistaken
// word is may be a key, so only use takes one.
func authWords(verb string) func(context.Context, *App, string) ([]*genai.Part, error) {
	return func(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
		words := strings.Fields(args)
		switch {
		case app.Manage == nil:
			return nil, outside("auth")
		case verb == "use" && len(words) != 1:
			return nil, misused("which type? /auth use gemini-api-key, vertex-ai, gateway or compute-default-credentials")
		case verb != "use" && len(words) > 0:
			return nil, misused("/auth has status, use, signin and signout; none but use takes a word, and a key is never typed here")
		}
		return nil, app.Manage(ctx, append([]string{"auth", verb}, words...)...)
	}
}
