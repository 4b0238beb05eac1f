package cli

import (
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/settings/flags"
)

// notYet are sub-commands of the Gemini CLI that there are not yet: how they
// go on, and what to do instead.
var notYet = []struct {
	names, actions []string
	instead        string
}{
	{[]string{"gemma"}, []string{"setup", "start", "stop", "status", "logs"}, "this version runs no local models"},
}

// Missing returns why the words of a command line are no sub-command, if they
// are one of the Gemini CLI's: the name alone, or with how it goes on. Other
// words that begin so are for the model.
func Missing(args []string) error {
	var names []string
	for _, m := range notYet {
		names = append(names, m.names...)
	}
	_, words, found := flags.Subcommand(args, names)
	if !found {
		return nil
	}
	for _, m := range notYet {
		if !slices.Contains(m.names, words[0]) || len(words) > 1 && !slices.Contains(m.actions, words[1]) && !strings.HasPrefix(words[1], "-") {
			continue
		}
		return &flags.UsageError{Message: "gemline " + text.EscapeLine(shorten(strings.Join(words[:min(2, len(words))], " "))) + ": " + m.instead +
			"; behind -- the words would be a prompt"}
	}
	return nil
}
