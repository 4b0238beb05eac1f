package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/policy"
)

func modes() *Command {
	names := make([]string, len(policy.Modes))
	for i, m := range policy.Modes {
		names[i] = string(m)
	}
	return &Command{Name: "mode", Usual: true, Args: "[" + strings.Join(names, "|") + "]", Summary: "say or change what runs without a question",
		Complete: words(names...),
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
