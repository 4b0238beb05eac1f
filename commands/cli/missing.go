package cli

import (
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/flags"
)

// instead says what to do for words that other programs and a session have as commands, and the
// command line has not.
var instead = []struct {
	names string
	what  string
}{
	{"gemma", "this version starts no model itself; gemline models lists the models that answer"},
	{"usage stats cost", "/stats shows a session's use, and a run in its record, with -o json"},
	{"login signin", "gemline auth signin stores a key"},
	{"logout signout", "gemline auth signout forgets the key"},
	{"version", "gemline --version says it"},
	{"upgrade", "gemline does not replace itself; gemline update says what updates it"},
	{"resume continue", "gemline --resume resumes the last session"},
	{"history", "gemline sessions lists the sessions"},
	{"settings", "gemline config list shows them"},
	{"init", "gemline -i /init writes a context file"},
	{"quit exit", "a session ends with /quit"},
}

// verbs are words for actions, in rows of the same meaning. Each sub-command has a word of its own.
var verbs = []string{"show info print", "add install create", "remove uninstall delete rm"}

// gemmas are the actions of gemma, which is a sub-command of the Gemini CLI's.
var gemmas = []string{"setup", "start", "stop", "status", "logs"}

// Missing returns why the words of a command line are no sub-command, if they look like one: a
// word alone that is a command elsewhere, or nearly one here; a word that is nearly a command, with
// an action of that command; or a command with a word of [verbs] that it does not have. Behind an
// action at most a name may follow. Other words are for the model, which is paid for.
func Missing(args []string) error {
	like := lists.Filter(args, func(arg string) bool { return why(arg) != "" || slices.Contains(Names(), arg) })
	_, words, found := flags.Subcommand(args, like)
	if !found {
		return nil
	}
	plain, near, own := slices.DeleteFunc(slices.Clone(words), isFlag), nearest(words[0]), find(words[:1])
	few := len(plain) == 2 || len(plain) == 3
	switch {
	case own != nil && len(own.Children) > 0 && few && find(plain[:2]) == nil && sameAction(plain[0], plain[1]) != "":
		return misused("gemline %s is no command: %s%s", strings.Join(plain[:2], " "), sameAction(plain[0], plain[1]), behind)
	case near != "" && few && find([]string{near, plain[1]}) != nil && Means(append([]string{near}, words[1:]...)):
		return misused("gemline %s is no command: did you mean gemline %s %s?%s", strings.Join(plain[:2], " "), near, plain[1], behind)
	case why(words[0]) == "":
		return nil
	}
	said := words[:1]
	for i, w := range words[1:] {
		switch {
		case strings.HasPrefix(w, "-"), strings.HasPrefix(words[i], "-"): // a flag, or its value
		case words[0] == "gemma" && slices.Contains(gemmas, words[1]):
			said = words[:2]
		default:
			return nil
		}
	}
	return misused("gemline %s is no command: %s%s", text.PrintableLine(shorten(strings.Join(said, " "))), why(words[0]), behind)
}

// sameAction says which word of its row in [verbs] a sub-command has for an action, "" if the word is
// in no row.
func sameAction(name, word string) string {
	for _, row := range verbs {
		if words := strings.Fields(row); slices.Contains(words, word) {
			for _, other := range words {
				if find([]string{name, other}) != nil {
					return "did you mean gemline " + name + " " + other + "?"
				}
			}
			return "gemline " + name + " --help lists what there is"
		}
	}
	return ""
}

// behind says how words reach the model after all.
const behind = "; behind -- the words would be a prompt"

// why says what to do instead of using a word as a sub-command, "" if it is not like one.
func why(word string) string {
	for _, row := range instead {
		if slices.Contains(strings.Fields(row.names), word) {
			return row.what
		}
	}
	if near := nearest(word); near != "" {
		return "did you mean gemline " + near + "?"
	}
	return ""
}

// nearest returns the sub-command that a word is nearly, "" if there is none.
func nearest(word string) string {
	if word == "setting" || word == "settings" {
		return "config"
	}
	const shortest, longest = 6, 20 // of a word that may be misspelled
	names := Names()
	if slices.Contains(names, word) {
		return ""
	}
	near := ""
	if plural := word + "s"; slices.Contains(names, plural) {
		near = plural
	} else if len(word) >= shortest && len(word) <= longest {
		near = text.Nearest(word, names)
	}
	if near == "" || near[0] != word[0] {
		return ""
	}
	return near
}
