package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

func show() *Command {
	return &Command{Name: "show", Usual: true, Args: "[NUMBER]", Summary: "outputs that were not shown in full; with a number, all of one",
		Run: func(_ context.Context, app *App, arg string) ([]*genai.Part, error) {
			if app.Screen == nil {
				return nil, errNoScreen
			}
			kept := app.Screen.Kept()
			if arg == "" {
				return nil, listOutputs(app, kept)
			}
			n, err := strconv.Atoi(arg)
			for _, o := range kept {
				if err == nil && o.Number == n {
					return nil, lines(app.Out, strings.TrimSuffix(o.Text, "\n"))
				}
			}
			return nil, fmt.Errorf("there is no output %s; /show lists them", arg)
		}}
}

func listOutputs(app *App, kept []Output) error {
	if len(kept) == 0 {
		return lines(app.Out, "everything so far was shown in full")
	}
	var ls []string
	for _, o := range kept {
		n := strings.Count(strings.TrimSuffix(o.Text, "\n"), "\n") + 1
		plural := "s"
		if n == 1 {
			plural = ""
		}
		ls = append(ls, fmt.Sprintf("%d: %s, %d line%s", o.Number, strings.Join(strings.Fields(o.Title), " "), n, plural))
	}
	return lines(app.Out, ls...)
}
