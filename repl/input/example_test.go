package input_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/repl/input"
)

// A chain passes a line from step to step. A step answers itself, or hands the
// line on, perhaps with something in the place of a part.
func Example() {
	help := func(next input.Processor) input.Processor {
		return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
			if parts[0].Text == "/help" {
				fmt.Println("say what you want")
				return nil, nil
			}
			return next(ctx, parts)
		}
	}
	date := input.ExpandCommands(func(_ context.Context, command string) (string, error) {
		return "the output of " + command, nil
	}, nil)
	expand := input.Chain(help, date)
	for _, line := range []string{"/help", "it is !{date}", "plain words"} {
		parts, err := expand(context.Background(), []*genai.Part{genai.NewPartFromText(line)})
		for _, p := range parts {
			fmt.Println(strings.TrimSpace(p.Text))
		}
		if err != nil {
			fmt.Println("error:", err)
		}
	}
	// Output:
	// say what you want
	// it is the output of date
	// plain words
}
