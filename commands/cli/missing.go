package cli

import (
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/flags"
)

// instead is advice for words that are commands of other programs or of a session, but not here.
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

// verbs are words for actions; each row holds synonyms. Each sub-command uses one word of a row.
var verbs = []string{"show info print", "add install create", "remove uninstall delete rm"}

// gemmas are the actions of gemma, a sub-command of the Gemini CLI.
var gemmas = []string{"setup", "start", "stop", "status", "logs"}

// Missing returns an error for words that look like a sub-command but are none. They are a single
// word that is a command elsewhere or a misspelled command; a misspelled command with an action; or
// a command with one of the [verbs], if the command has no such verb. At most a name may follow the action. Other words
// are a prompt, which costs money.
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

// sameAction returns advice for an action that a sub-command lacks, by the synonyms in [verbs]. It
// returns "" if verbs lacks the word.
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

// behind says how to send the words to the model.
const behind = "; behind -- the words would be a prompt"

// why returns advice for a word that is no sub-command, "" if the word resembles none.
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

// nearest returns the sub-command that a word misspells, "" if there is none.
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
