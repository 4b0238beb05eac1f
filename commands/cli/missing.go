package cli

import (
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/settings/flags"
)

// Missing returns why the words of a command line are no sub-command, if they are gemma,
// which is one of the Gemini CLI's: the name alone, or with how it goes on. Other words that
// begin so are for the model.
func Missing(args []string) error {
	_, words, found := flags.Subcommand(args, []string{"gemma"})
	actions := []string{"setup", "start", "stop", "status", "logs"}
	if !found || len(words) > 1 && !slices.Contains(actions, words[1]) && !strings.HasPrefix(words[1], "-") {
		return nil
	}
	return &flags.UsageError{Message: "gemline " +
		text.EscapeLine(shorten(strings.Join(words[:min(2, len(words))], " "))) +
		": this version runs no local models; behind -- the words would be a prompt"}
}
