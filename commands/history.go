package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gemline/engine/journal"
)

// mostListed is how many inputs, or exchanges, are listed if nothing is said.
const mostListed = 20

func history() *Command {
	return &Command{Name: "history", Usual: true, Args: "[NUMBER|TEXT]",
		Summary: "what was said here, or your last inputs",
		Run: func(_ context.Context, app *App, arg string) error {
			if app.Screen == nil {
				return errNoScreen
			}
			if said := journal.Turns(app.Engine.History()); arg == "" && len(said) > 0 {
				return showExchanges(app, said)
			}
			return listInputs(app, arg)
		}}
}

// showExchanges shows the last exchanges of the conversation.
func showExchanges(app *App, said []journal.Turn) error {
	if n := len(said) - mostListed; n > 0 {
		if err := sentences(app.Out, fmt.Sprintf("%d earlier exchanges are not shown", n)); err != nil {
			return err
		}
		said = said[n:]
	}
	for _, x := range said {
		app.Screen.Asked(x.Question)
		if x.Answer != "" {
			app.Screen.Answer(x.Answer)
		}
	}
	return nil
}

// listInputs shows what the user typed last, or where that holds a text.
func listInputs(app *App, arg string) error {
	entered := app.Screen.Entered()
	most, text := mostListed, strings.ToLower(arg)
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
	case text != "" && len(ls) == 0:
		return fmt.Errorf("none of your inputs contains %q; /resume %s looks in the sessions", arg, arg)
	case len(ls) > 0:
		return sentences(app.Out, ls...)
	}
	return sentences(app.Out, "nothing was typed yet")
}
