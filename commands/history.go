package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

// lately is how many inputs are listed if nothing is said.
const lately = 20

func history() *Command {
	return &Command{Name: "history", Args: "[NUMBER|TEXT]", Summary: "what you typed last, or so many inputs, or those that hold a text",
		Run: func(_ context.Context, app *App, arg string) ([]*genai.Part, error) {
			if app.Screen == nil {
				return nil, errNoScreen
			}
			entered := app.Screen.Entered()
			most, text := lately, strings.ToLower(arg)
			if n, err := strconv.Atoi(arg); err == nil && n > 0 {
				most, text = n, ""
			}
			var ls []string
			for i := len(entered) - 1; i >= 0 && len(ls) < most; i-- {
				if strings.Contains(strings.ToLower(entered[i]), text) {
					ls = append([]string{fmt.Sprintf("%d: %s", i+1, strings.ReplaceAll(entered[i], "\n", "\n  "))}, ls...)
				}
			}
			switch {
			case len(ls) > 0:
				return nil, lines(app.Out, ls...)
			case text != "":
				return nil, fmt.Errorf("nothing that you typed holds %q", arg)
			}
			return nil, lines(app.Out, "nothing was typed yet")
		}}
}
