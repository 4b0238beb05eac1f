package commands

import (
	"context"
	"errors"

	"google.golang.org/genai"
)

// summing is what the model is asked for.
const summing = `Sum up in plain sentences, ten at the most, what has happened in this conversation so far: what I asked for, what you found out and changed (name the files and commands), what went wrong, and what is still open. Do nothing else, and call no tools.`

func brief() *Command {
	return &Command{Name: "brief", Summary: "ask the model what has happened so far",
		Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
			if lastAnswer(app.Engine) == "" {
				return nil, errors.New("nothing has happened yet")
			}
			return []*genai.Part{genai.NewPartFromText(summing)}, nil
		}}
}
