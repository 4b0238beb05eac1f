package commands

import (
	"context"
	"time"

	"google.golang.org/genai"
)

func stats() *Command {
	show := func(of func(app *App) []string) func(context.Context, *App, string) ([]*genai.Part, error) {
		return func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
			return nil, sentences(app.Out, of(app)...)
		}
	}
	session := show(func(app *App) []string { return app.Tally.Overview(time.Now()) })
	return &Command{Name: "stats", Usual: true, Aliases: []string{"usage"}, Summary: "what the session did and used", Run: session, Sub: Set{
		{Name: "session", Summary: "what the session did and used", Run: session},
		{Name: "model", Summary: "requests, tokens and times of each model", Run: show(func(app *App) []string { return app.Tally.Models() })},
		{Name: "tools", Summary: "calls and times of each tool", Run: show(func(app *App) []string { return app.Tally.Tools() })},
	}}
}
