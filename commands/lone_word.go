package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"

	"gemline/repl/input"
)

// LoneWord is the link of the input chain that takes a word alone on a line for the
// command that it means to everybody.
func LoneWord(next input.Processor) input.Processor {
	return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		if len(parts) == 1 {
			switch strings.TrimSpace(parts[0].Text) {
			case "?", "help":
				parts = []*genai.Part{genai.NewPartFromText("/help")}
			case "exit", "quit":
				parts = []*genai.Part{genai.NewPartFromText("/quit")}
			}
		}
		return next(ctx, parts)
	}
}
