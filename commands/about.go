package commands

import (
	"context"

	"google.golang.org/genai"
)

func about() *Command {
	return &Command{Name: "about", Summary: "version, model, session and where things are",
		Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
			var ls []string
			for _, f := range app.About() {
				ls = append(ls, f.Name+": "+f.Value)
			}
			return nil, sentences(app.Out, ls...)
		}}
}
