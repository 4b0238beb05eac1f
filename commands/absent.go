package commands

import (
	"fmt"
	"slices"
	"strings"
)

// An Error says why a command was not run.
type Error struct {
	Message string
	Misused bool // the command exists, but was called in the wrong way
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func misused(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Misused: true}
}

func unavailable(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// absent lists commands of the Gemini CLI that gemline lacks, and what to do instead. Such a line
// gets an answer, since it is not meant for the model. A name may include a sub-command; the words
// behind it don't matter. When gemline gets a command, its row goes.
var absent = []struct {
	names   []string
	instead string
}{
	{[]string{"bug"}, "gemline opens no web page; gemline doctor prints what a report needs"},
	{[]string{"docs"}, "gemline help lists the pages, and /help PAGE prints one"},
	{[]string{"extensions explore", "extension explore"}, "gemline looks in no gallery; /extensions install ADDRESS installs one"},
	{[]string{"gemma"}, "gemline starts no model itself; /model lists the models that answer, those of servers on this machine among them"},
	{[]string{"memory inbox"}, "gemline collects no notes from sessions; /memory add TEXT adds one to your GEMINI.md"},
	{[]string{"model manage"}, "/model lists the models, /model NAME changes to one, and --persist keeps it"},
	{[]string{"privacy"}, "gemline sends nothing but requests to the model's server; /help security says more"},
	{[]string{"shortcuts"}, "/help terminal lists the keys"},
	{[]string{"shells", "bashes"}, "/tasks lists what runs in the background"},
	{[]string{"theme", "footer", "statusline", "terminal-setup", "voice", "corgi"}, "gemline has no such command; /settings says what can be set"},
	{[]string{"upgrade"}, "there is nothing to upgrade here; /auth says how you are signed in"},
	{[]string{"bug-memory", "profile", "oncall", "chat debug", "resume debug"}, "that is for those who build the Gemini CLI; gemline -d writes a debug log"},
}

// answerAbsent returns the error for a line that begins with the name of an absent command,
// otherwise nil.
func answerAbsent(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	for _, n := range []int{2, 1} {
		name := strings.Join(words[:min(n, len(words))], " ")
		for _, a := range absent {
			if slices.Contains(a.names, name) {
				return unavailable("/%s: %s", name, a.instead)
			}
		}
	}
	return nil
}
