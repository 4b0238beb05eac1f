package commands

import (
	"context"

	"google.golang.org/genai"
)

func modes() *Command {
	return &Command{Name: "mode", Usual: true, Args: "[default|auto_edit|plan|yolo]", Summary: "say or change what runs without a question",
		Complete: words("default", "auto_edit", "plan", "yolo"),
		Run: func(_ context.Context, app *App, word string) ([]*genai.Part, error) {
			said, err := app.Mode(word)
			if err != nil {
				return nil, err
			}
			return nil, sentences(app.Out, said)
		}}
}

func plan() *Command {
	return &Command{Name: "plan", Args: "[TEXT]", Summary: "change to plan mode, which changes nothing; with text, ask for a plan",
		Run: func(_ context.Context, app *App, text string) ([]*genai.Part, error) {
			said, err := app.Mode("plan")
			if err != nil {
				return nil, err
			}
			if err := lines(app.Out, said); err != nil || text == "" {
				return nil, err
			}
			return []*genai.Part{genai.NewPartFromText(text)}, nil
		}}
}
