package commands

import (
	"context"
	"strings"
)

func tools() *Command {
	return &Command{Name: "tools", Summary: "the tools the model is offered", Run: listTools, Sub: Set{
		{Name: "list", Summary: "the names of the tools", Run: listTools},
		{Name: "desc", Aliases: []string{"descriptions"}, Summary: "what the model is told about each", Run: describeTools},
	}}
}

func listTools(_ context.Context, app *App, _ string) error {
	var ls []string
	for _, t := range app.Tools.Tools() {
		if app.Policy.Offers(t) {
			ls = append(ls, t.Name()+" ("+t.Label+")")
		}
	}
	return sentences(app.Out, ls...)
}

func describeTools(_ context.Context, app *App, _ string) error {
	var ls []string
	for _, t := range app.Tools.Tools() {
		if app.Policy.Offers(t) {
			ls = append(ls, t.Name()+": "+strings.Join(strings.Fields(t.Declaration.Description), " "), "")
		}
	}
	return sentences(app.Out, ls[:max(0, len(ls)-1)]...)
}
