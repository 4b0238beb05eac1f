package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func vim() *Command {
	return &Command{Name: "vim", Args: "[on|off]", Summary: "vi keys, on or off", Complete: words("on", "off"),
		Run: func(ctx context.Context, app *App, word string) ([]*genai.Part, error) {
			if strings.TrimSpace(word) == "" {
				word = "toggle"
			}
			return state(func(s *Screen) func(string) (string, error) { return s.Vi })(ctx, app, word)
		}}
}
