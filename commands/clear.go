package commands

import (
	"context"

	"google.golang.org/genai"
)

func clearing() *Command {
	return &Command{Name: "clear", Usual: true, Aliases: []string{"new"}, Summary: "forget the conversation and start another session",
		Run: func(ctx context.Context, app *App, _ string) ([]*genai.Part, error) {
			if app.Restart == nil {
				return nil, unavailable("/clear works in a session only")
			}
			if err := app.Restart(ctx); err != nil {
				return nil, err
			}
			return nil, sentences(app.Out, "A new session begins. The one before is kept.")
		}}
}
