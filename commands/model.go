package commands

import (
	"context"
	"strings"

	"google.golang.org/genai"
)

func models() *Command {
	return &Command{Name: "model", Args: "[NAME]", Summary: "the model in use and the names you can give; with a name, change it",
		Run: useModel, Sub: Set{
			{Name: "set", Args: "NAME", Summary: "change the model for this session", Run: func(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
				if args == "" {
					return nil, misused("which model? /model set NAME")
				}
				return useModel(ctx, app, args)
			}},
		}}
}

func useModel(_ context.Context, app *App, name string) ([]*genai.Part, error) {
	if name == "" {
		ls := []string{"model: " + app.Engine.Model(), "", "Names you can give:"}
		for _, c := range app.Models.Choices() {
			ls = append(ls, c.Name+": "+c.Note)
		}
		return nil, lines(app.Out, ls...)
	}
	if strings.ContainsAny(name, " \t/?#") {
		return nil, misused("%q is not the name of a model", name)
	}
	app.Engine.SetModel(app.Models.Resolve(name))
	return nil, lines(app.Out, "model: "+app.Engine.Model())
}
