package cli

import (
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"gemline/engine/lists"
	"gemline/settings"
	"gemline/settings/flags"
)

// A Slash is a sub-command as a slash command of a session. The tag slash of the grammar holds its
// names in a session; a sub-command without the tag exists on the command line only.
type Slash struct {
	Name     string
	Aliases  []string
	Args     string   // synopsis of flags and arguments
	Summary  string   // one line
	Words    []string // words for [Run], without the arguments
	Required []string // required arguments
	Sub      []Slash
	TakesKey bool // its first argument is the name of a setting

	args int  // the number of arguments
	rest bool // the last argument is the rest of the line
}

// Session returns the sub-command with a name in a session.
func Session(name string) Slash {
	all := slashes()
	return all[slices.IndexFunc(all, func(s Slash) bool { return s.Name == name })] // the tags hold each name
}

// slashes are made once, since a session needs them for each line and key.
var slashes = sync.OnceValue(func() (all []Slash) {
	for _, n := range table().Children {
		if s, is := slashOf(nil, n); is {
			all = append(all, s)
		}
	}
	return all
})

// slashOf converts a node of the grammar into a slash command. Is reports whether the node has the
// tag.
func slashOf(above []string, n *kong.Node) (s Slash, is bool) {
	names := strings.Split(n.Tag.Get("slash"), ",")
	s = Slash{Name: names[0], Aliases: names[1:], Words: slices.Concat(above, []string{n.Name}), rest: n.Tag.Has("rest"),
		Summary: strings.ToLower(n.Help[:1]) + strings.TrimSuffix(n.Help[1:], ".")}
	if s.Name == "" {
		return s, false
	}
	for _, c := range n.Children {
		if sub, is := slashOf(s.Words, c); is {
			s.Sub = append(s.Sub, sub)
		}
	}
	var words []string
	for _, f := range flags.Describe(n.Flags) {
		f.Short = ""
		words = append(words, "["+f.Spelling()+"]")
	}
	for _, p := range n.Positional {
		if word := synopsis(p); word != "" {
			words = append(words, word)
		}
		if p.Required {
			s.Required = append(s.Required, strings.ToUpper(p.Name))
		}
		s.TakesKey = s.TakesKey || s.args == 0 && p.Tag.Get("complete") == "key"
		s.args++
	}
	s.Args = strings.Join(words, " ")
	return s, true
}

// SettingKeys returns the names of the settings.
func SettingKeys() []string {
	return lists.Map(settings.Keys(), func(k settings.Key) string { return k.Name })
}

// synopsis returns the synopsis of an argument, "" for a hidden argument.
func synopsis(p *kong.Positional) string {
	word := strings.ToUpper(p.Name)
	if p.IsSlice() {
		word += " ..."
	}
	switch {
	case p.Tag.Hidden:
		return ""
	case p.Required:
		return word
	}
	return "[" + word + "]"
}

// Take converts the words typed behind the slash command into arguments of the sub-command.
func (s Slash) Take(args string) (words []string) {
	if !s.rest {
		return strings.Fields(args)
	}
	for strings.HasPrefix(args, "--") {
		var flag string
		flag, args, _ = strings.Cut(args, " ")
		words = append(words, flag)
	}
	if args != "" {
		words = append(append(words, "--"), strings.SplitN(args, " ", s.args)...)
	}
	return words
}
