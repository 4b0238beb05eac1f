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

// A Slash is a sub-command as a slash command of a session. The tag slash of the grammar
// holds its names there; a sub-command without the tag is for the command line alone.
type Slash struct {
	Name     string
	Aliases  []string
	Args     string   // synopsis of flags and arguments
	Summary  string   // one line
	Words    []string // that [Run] takes, without the arguments
	Required []string // arguments that can't be left out
	Sub      []Slash
	TakesKey bool // its first argument is the name of a setting

	args int  // how many arguments there are
	rest bool // the last argument is all that is left of a line
}

// Session returns the sub-command that goes by a name in a session.
func Session(name string) Slash {
	all := slashes()
	return all[slices.IndexFunc(all, func(s Slash) bool { return s.Name == name })] // which the tags have
}

// slashes are made once, since a session asks for them with each line and key.
var slashes = sync.OnceValue(func() (all []Slash) {
	for _, n := range table().Children {
		if s, is := slashOf(nil, n); is {
			all = append(all, s)
		}
	}
	return all
})

// slashOf returns a node of the grammar as a slash command, if it is one.
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

// synopsis returns how an argument is written in a line, "" for one that is hidden.
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

// Take returns what stands behind the words of the sub-command for what is typed behind
// the slash command.
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
