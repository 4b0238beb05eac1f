package commands

import (
	"context"

	"google.golang.org/genai"
)

func todos() *Command {
	return &Command{Name: "todos", Usual: true, Summary: "the model's todo list, and how far it is", Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
		var ls []string
		if app.Todos != nil {
			ls = app.Todos()
		}
		if len(ls) == 0 {
			ls = []string{"there is no todo list"}
		}
		return nil, lines(app.Out, ls...)
	}}
}
