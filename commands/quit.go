package commands

import (
	"context"
	"gemline/repl/input"

	"google.golang.org/genai"
)

func quit() *Command {
	return &Command{Name: "quit", Usual: true, Aliases: []string{"exit"}, Summary: "leave; the session is kept",
		Run: func(context.Context, *App, string) ([]*genai.Part, error) { return nil, input.ErrQuit }}
}
