package commands

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

func copying() *Command {
	return &Command{Name: "copy", Usual: true, Summary: "put the last answer on the clipboard",
		Run: func(ctx context.Context, app *App, _ string) ([]*genai.Part, error) {
			if app.Copy == nil {
				return nil, unavailable("there is no clipboard here")
			}
			text := lastAnswer(app.Engine)
			if text == "" {
				return nil, unavailable("there is no answer to copy yet")
			}
			how, err := app.Copy(ctx, text)
			if err != nil {
				return nil, err
			}
			return nil, sentences(app.Out, fmt.Sprintf("copied %d bytes %s", len(text), how))
		}}
}

// lastAnswer returns the text of the model's last message that has any.
func lastAnswer(e *engine.Engine) string {
	history := e.History()
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != genai.RoleModel {
			continue
		}
		var text strings.Builder
		for _, p := range history[i].Parts {
			if !p.Thought {
				text.WriteString(p.Text)
			}
		}
		if text.Len() > 0 {
			return text.String()
		}
	}
	return ""
}
