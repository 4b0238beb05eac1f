package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/engine/lists"
	"gemline/settings/flags"
)

// A completer returns completions for a word of a command line, from the tables of the parsers.
type completer struct {
	values func(kind string) []candidate // returns all words of a kind, such as the names of models
}

// A candidate is a completion of a word, with a note about it.
type candidate struct{ word, note string }

// Kinds of completions. The shell itself completes files and dirs.
const (
	files = "files"
	dirs  = "dirs"
	known = "words"
)

// A position describes the words before the word to complete.
type position struct {
	node    *kong.Node    // the command, nil if there is none yet
	flags   []flags.Entry // flags that are allowed here
	wants   *flags.Entry  // the flag whose value may come next
	plain   int           // the number of other words, without the names of commands
	literal bool          // after --, no word is a flag
}

// complete returns completions of the last word.
func (c *completer) complete(words []string) (kind string, list []candidate) {
	if len(words) == 0 {
		words = []string{""}
	}
	at := position{flags: flags.Table()} // before a sub-command, and around a prompt
	for _, word := range words[:len(words)-1] {
		at.step(word)
	}
	word := words[len(words)-1]
	hyphen := strings.HasPrefix(word, "-") && !at.literal
	name, _, given := strings.Cut(word, "=")
	switch {
	case at.wants != nil && !(hyphen && at.wants.ValueRule == flags.OptionalValue):
		kind, list = c.value(*at.wants)
	case hyphen && given:
		f := at.flag(name)
		if f == nil || f.ValueRule == flags.NoValue {
			return known, nil
		}
		kind, list = c.value(*f)
		for i := range list {
			list[i].word = name + "=" + list[i].word
		}
	case hyphen:
		kind, list = known, at.names(word == "-")
	default:
		kind, list = c.words(at)
	}
	return kind, slices.DeleteFunc(list, func(x candidate) bool { return !strings.HasPrefix(x.word, word) })
}

// step updates the position by a word.
func (at *position) step(word string) {
	wants := at.wants
	at.wants = nil
	hyphen := strings.HasPrefix(word, "-") && word != "-" && !at.literal
	switch {
	case wants != nil && !(hyphen && wants.ValueRule == flags.OptionalValue):
	case word == "--" && hyphen:
		at.literal = true
	case hyphen:
		if f := at.flag(word); f != nil && (f.ValueRule == flags.RequiredValue || f.ValueRule == flags.OptionalValue) {
			at.wants = f
		}
	default:
		at.enter(word)
	}
}

// enter updates the position by a word that is no flag.
func (at *position) enter(word string) {
	children := cmp.Or(at.node, table()).Children
	i := -1
	if at.plain == 0 && !at.literal {
		i = slices.IndexFunc(children, func(n *kong.Node) bool {
			return n.Name == word || slices.Contains(n.Aliases, word)
		})
	}
	if i < 0 {
		at.plain++
		return
	}
	if at.node == nil {
		at.flags = flags.Describe(table().Flags)
	}
	at.node = children[i]
	at.flags = append(at.flags, flags.Describe(at.node.Flags)...)
	if d := at.node.DefaultCmd; d != nil {
		at.flags = append(at.flags, flags.Describe(d.Flags)...)
	}
}

// flag returns the flag of a spelling, nil if there is none.
func (at *position) flag(word string) *flags.Entry {
	for i, f := range at.flags {
		if word == "--"+f.Name || f.Short != "" && word == "-"+f.Short {
			return &at.flags[i]
		}
	}
	return nil
}

// names returns the flags, also their one-letter forms if letters is set.
func (at *position) names(letters bool) (list []candidate) {
	add := func(word, note string) {
		if !slices.ContainsFunc(list, func(x candidate) bool { return x.word == word }) {
			list = append(list, candidate{word, note})
		}
	}
	for _, f := range at.flags {
		add("--"+f.Name, f.Help)
	}
	for _, f := range at.flags {
		if letters && f.Short != "" {
			add("-"+f.Short, f.Help)
		}
	}
	add("--help", "Print what can be said about it.")
	return list
}

// words returns the words that are allowed here, without flags.
func (c *completer) words(at position) (string, []candidate) {
	node := at.node
	if node == nil {
		if at.plain > 0 || at.literal { // a prompt has no completions
			return known, nil
		}
		node = table()
	}
	if len(node.Children) > 0 && at.plain == 0 {
		shown := lists.Filter(node.Children, func(n *kong.Node) bool { return !n.Hidden })
		return known, lists.Map(shown, func(n *kong.Node) candidate { return candidate{n.Name, n.Help} })
	}
	for i, p := range node.Positional {
		if i == at.plain || i < at.plain && p.IsSlice() {
			return c.value(flags.Entry{Complete: p.Tag.Get("complete")})
		}
	}
	return known, nil
}

// value returns the possible values of a flag.
func (c *completer) value(f flags.Entry) (string, []candidate) {
	switch {
	case f.Values != nil:
		return known, lists.Map(f.Values, func(v string) candidate { return candidate{word: v} })
	case f.Complete == files, strings.HasPrefix(f.Placeholder, "FILE"):
		return files, nil
	case f.Complete == dirs, strings.HasPrefix(f.Placeholder, "DIR"):
		return dirs, nil
	case f.Complete != "":
		return known, c.values(f.Complete)
	}
	return known, nil
}
