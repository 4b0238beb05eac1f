package commands

import (
	"context"

	"google.golang.org/genai"
)

func again() *Command {
	return &Command{Name: "again", Summary: "show the last answer once more",
		Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
			text := lastAnswer(app.Engine)
			switch {
			case text == "":
				return nil, unavailable("there is no answer yet")
			case app.Screen == nil:
				return nil, lines(app.Out, text)
			}
			app.Screen.Answer(text)
			return nil, nil
		}}
}
