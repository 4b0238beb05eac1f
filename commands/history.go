package commands

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gemline/engine/journal"
)

// mostListed is how many inputs, or exchanges, are listed by default.
const mostListed = 20

func (cmd screenCommands) history(_ context.Context, arg string) error {
	if cmd.screen == nil {
		return errNoScreen
	}
	if said := journal.Turns(journal.Transcript(cmd.c.Journal, cmd.c.Engine.History())); arg == "" && len(said) > 0 {
		return cmd.showExchanges(said)
	}
	return cmd.listInputs(arg)
}

// showExchanges shows the last exchanges of the conversation.
func (cmd screenCommands) showExchanges(said []journal.Turn) error {
	if n := len(said) - mostListed; n > 0 {
		if err := sentences(cmd.out, fmt.Sprintf("%d earlier exchanges are not shown", n)); err != nil {
			return err
		}
		said = said[n:]
	}
	for _, x := range said {
		cmd.screen.Asked(x.Question)
		if x.Answer != "" {
			cmd.screen.Answer(x.Answer)
		}
	}
	return nil
}

// listInputs shows the user's last inputs, or the last inputs that contain a text.
func (cmd screenCommands) listInputs(arg string) error {
	entered := cmd.screen.Entered()
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
		return sentences(cmd.out, ls...)
	}
	return sentences(cmd.out, "nothing was typed yet")
}
