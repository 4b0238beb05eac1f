package commands

import (
	"context"

	"google.golang.org/genai"
)

func memories() *Command {
	return &Command{Name: "memory", Usual: true, Summary: "name the context files (GEMINI.md) that the model is given", Run: listMemory, Sub: Set{
		{Name: "show", Summary: "print the context files",
			Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
				return nil, lines(app.Out, app.Memory.Contents().Show())
			}},
		{Name: "list", Summary: "name the context files", Run: listMemory},
		{Name: "refresh", Aliases: []string{"reload"}, Summary: "read the context files again, for the next request", Run: refreshMemory},
		{Name: "add", Args: "TEXT", Summary: "append a line to your own GEMINI.md, for the next request", Run: addMemory},
	}}
}

func listMemory(_ context.Context, app *App, args string) ([]*genai.Part, error) {
	if args != "" {
		return nil, memories().wants(args)
	}
	return nil, lines(app.Out, app.Memory.Contents().List())
}

func refreshMemory(ctx context.Context, app *App, _ string) ([]*genai.Part, error) {
	c := app.Memory.Reload()
	app.Engine.Reopen(ctx)
	return nil, lines(app.Out, c.Reloaded())
}

func addMemory(_ context.Context, app *App, text string) ([]*genai.Part, error) {
	if text == "" {
		return nil, misused("what shall be remembered? /memory add TEXT")
	}
	path, err := app.Memory.Add(text)
	if err != nil {
		return nil, err
	}
	return nil, lines(app.Out, "added to "+path)
}
