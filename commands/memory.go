package commands

import (
	"context"
)

func memories() *Command {
	return &Command{Name: "memory", Usual: true,
		Summary: "name the context files (GEMINI.md) that the model is given", Run: listMemory, Sub: Set{
			{Name: "show", Summary: "print the context files",
				Run: func(_ context.Context, app *App, _ string) error {
					return lines(app.Out, app.Memory.Contents().Show())
				}},
			{Name: "list", Summary: "name the context files", Run: listMemory},
			{Name: "refresh", Aliases: []string{"reload"}, Summary: "read the context files again, for the next request", Run: refreshMemory},
			{Name: "add", Args: "TEXT", Summary: "append a line to your own GEMINI.md, for the next request", Run: addMemory},
		}}
}

func listMemory(_ context.Context, app *App, _ string) error {
	return sentences(app.Out, app.Memory.Contents().List())
}

func refreshMemory(ctx context.Context, app *App, _ string) error {
	c := app.Memory.Reload()
	app.Engine.Reopen(ctx)
	return sentences(app.Out, c.Reloaded())
}

func addMemory(_ context.Context, app *App, text string) error {
	if text == "" {
		return misused("what shall be remembered? /memory add TEXT")
	}
	path, err := app.Memory.Add(text)
	if err != nil {
		return err
	}
	return sentences(app.Out, "added to "+path)
}
