package commands

import (
	"context"
	"encoding/csv"
	"errors"
	"strings"

	"google.golang.org/genai"

	"gemline/repl/markdown"
)

func last() *Command {
	return &Command{Name: "last", Summary: "the last answer once more, or parts of it", Run: lastAll, Sub: Set{
		{Name: "csv", Summary: "its last table as comma-separated values", Run: lastTable},
	}}
}

func lastAll(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
	if args != "" {
		return nil, last().wants(args)
	}
	return again().Run(ctx, app, "")
}

func lastTable(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
	tables := markdown.Tables(lastAnswer(app.Engine))
	if len(tables) == 0 {
		return nil, errors.New("there is no table in the last answer")
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(tables[len(tables)-1]); err != nil {
		return nil, err
	}
	return nil, lines(app.Out, strings.TrimSuffix(b.String(), "\n"))
}
