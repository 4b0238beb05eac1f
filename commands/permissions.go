package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func permissions() *Command {
	return &Command{Name: "permissions", Usual: true, Summary: "say whether this folder is trusted", Run: here, Sub: Set{
		{Name: "status", Args: "[FOLDER]", Summary: "say whether a folder is trusted, and what it brings", Run: trustWords("status")},
		{Name: "trust", Args: "[FOLDER]", Summary: "ask about a folder, as at the start", Run: permit},
		{Name: "list", Summary: "list the folders that you have decided about", Run: trustWords("list")},
		{Name: "add", Args: "[--parent] [FOLDER]", Summary: "trust a folder, from the next start on", Run: trustWords("add")},
		{Name: "deny", Args: "[FOLDER]", Summary: "don't trust it", Run: trustWords("deny")},
		{Name: "remove", Args: "[FOLDER]", Summary: "forget what you have decided about it", Run: trustWords("remove")},
	}}
}

// trustWords returns what runs a sub-command of gemline trust. Behind its
// flags, all words are the name of one folder.
func trustWords(verb string) func(context.Context, *App, string) ([]*genai.Part, error) {
	return func(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
		if app.Manage == nil {
			return nil, outside("trust")
		}
		words := []string{"trust", verb}
		for strings.HasPrefix(args, "--") {
			var flag string
			flag, args, _ = strings.Cut(args, " ")
			words = append(words, flag)
		}
		if args != "" {
			words = append(words, "--", args)
		}
		return nil, app.Manage(ctx, words...)
	}
}

// here says whether a folder is trusted. A bare word is a mistaken sub-command
// sooner than a folder, and that it is trusted would be no answer.
func here(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
	if args != "" && !strings.ContainsAny(args, "/\\~.-") {
		return nil, permissions().wants(args)
	}
	return trustWords("status")(ctx, app, args)
}

// permit asks about a folder.
func permit(ctx context.Context, app *App, folder string) ([]*genai.Part, error) {
	if app.Permit == nil {
		return nil, unavailable("nobody can be asked here; gemline trust add does the same")
	}
	said, err := app.Permit(ctx, folder)
	if err != nil {
		return nil, err
	}
	return nil, sentences(app.Out, said)
}
