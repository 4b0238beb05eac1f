package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/journal"
	"gemline/repl/input"
)

// LoneWord returns the link of the input chain for a line of one common word, such as help or exit,
// which stands for a command. An answer such as y is refused if the model's last answer asks no
// question.
func LoneWord(history func() []*genai.Content) input.Step {
	return func(next input.Processor) input.Processor {
		return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
			if len(parts) != 1 {
				return next(ctx, parts)
			}
			switch word := strings.ToLower(strings.TrimSpace(parts[0].Text)); word {
			case "y", "n", "e":
				if said := journal.Turns(history()); len(said) == 0 || !strings.Contains(said[len(said)-1].Answer, "?") {
					return nil, unavailable("%s answers a question, and none is open; with more words it is sent to the model", word)
				}
			case "?", "help":
				parts = []*genai.Part{genai.NewPartFromText("/help")}
			case "exit", "quit":
				parts = []*genai.Part{genai.NewPartFromText("/quit")}
			}
			return next(ctx, parts)
		}
	}
}
