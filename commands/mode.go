package commands

import (
	"context"

	"google.golang.org/genai"
)

func modes() *Command {
	return &Command{Name: "mode", Args: "[default|auto_edit|plan|yolo]", Summary: "what runs without a question; with a word, change it for this session",
		Complete: words("default", "auto_edit", "plan", "yolo"),
		Run: func(_ context.Context, app *App, word string) ([]*genai.Part, error) {
			said, err := app.Mode(word)
			if err != nil {
				return nil, err
			}
			return nil, lines(app.Out, said)
		}}
}
