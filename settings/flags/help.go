package flags

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// An Entry describes a flag for help texts, the manual page and shell completion.
type Entry struct {
	Name        string // without the hyphens
	Short       string // the one-letter form; may be empty
	Group       string // the section of the help text
	Help        string
	Placeholder string // stands for the value; empty without a value
	Values      []string
	ValueRule   ValueRule

	// Complete is the kind of value for completion: files, dirs, model and so
	// on. It comes from the tag complete.
	Complete string
}

// ValueRule says whether a flag has a value.
type ValueRule int

// The values of ValueRule.
const (
	NoValue       ValueRule = iota
	RequiredValue           // after = in the same word, or in the next word
	OptionalValue           // the same, or none at all
	AttachedValue           // after = in the same word, or none at all
)

// Spelling returns how help texts write the flag: --json-fd N.
func (f Entry) Spelling() string {
	name := "--" + f.Name
	if f.Short != "" {
		name = "-" + f.Short + ", " + name
	}
	switch f.ValueRule {
	case AttachedValue:
		name += "[=" + f.Placeholder + "]"
	case RequiredValue, OptionalValue:
		name += " " + f.Placeholder
	}
	return name
}

// Describe describes flags, except hidden flags.
func Describe(flags []*kong.Flag) []Entry {
	var out []Entry
	for _, fl := range flags {
		if fl.Hidden {
			continue
		}
		d := Entry{Name: fl.Name, Help: fl.Help, Complete: fl.Tag.Get("complete")}
		if fl.Short != 0 {
			d.Short = string(fl.Short)
		}
		if fl.Group != nil {
			d.Group = fl.Group.Key
		}
		for v := range strings.SplitSeq(fl.Enum, ",") {
			if v != "" {
				d.Values = append(d.Values, v)
			}
		}
		switch {
		case fl.Target.Type() == reflect.TypeOf(Attached{}):
			d.ValueRule = AttachedValue
		case optional(fl):
			d.ValueRule = OptionalValue
		case !fl.IsBool():
			d.ValueRule = RequiredValue
		}
		if d.ValueRule != NoValue {
			d.Placeholder = fl.FormatPlaceHolder()
		}
		out = append(out, d)
	}
	return out
}

// Table returns the flags of the command line, in the order of the help
// text.
func Table() []Entry {
	k, err := parser(&Set{})
	if err != nil {
		panic(err) // a mistake in the tags
	}
	return Describe(k.Model.Flags)
}

// A Line is a name or a command line, with its description.
type Line struct{ Name, Help string }

// Examples are command lines, the most common first.
func Examples() []Line {
	return []Line{
		{`gemline`, "talk to the model, line by line"},
		{`gemline -p "what does main.go do?"`, "print one answer and exit"},
		{`git diff | gemline -p "review this"`, "put standard input before the prompt"},
		{`gemline --json -p "..." | jq .response`, "one JSON document"},
		{`gemline --resume latest`, "resume the last session"},
	}
}

// Help writes the help text, 80 columns wide, examples first. The commands are
// those of the command line.
func Help(w io.Writer, commands []Line) error {
	var b strings.Builder
	b.WriteString("gemline: a coding agent for plain terminals\n\n")
	list(&b, Examples())
	b.WriteString("\nusage: gemline [flags] [prompt ...]\n\nCommands, each with a --help of its own\n")
	list(&b, commands)
	group := ""
	for _, fl := range Table() {
		if fl.Group != group {
			group = fl.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		name := fl.Spelling()
		if fl.Short == "" {
			name = "    " + name
		}
		fmt.Fprintf(&b, "  %s\n", name)
		for _, line := range Wrap(fl.Help, 70) {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	b.WriteString(`
Environment
  GEMINI_API_KEY, GOOGLE_API_KEY   the key for the Gemini API
  GOOGLE_GEMINI_BASE_URL           another server that speaks the Gemini API
  GEMINI_MODEL                     the model, if no -m is given

gemline help lists what else there is to read. Inside a session, /help lists
the commands.
`)
	_, err := io.WriteString(w, b.String())
	return err
}

// list writes lines in two columns.
func list(b *strings.Builder, lines []Line) {
	width := 0
	for _, l := range lines {
		width = max(width, len(l.Name))
	}
	for _, l := range lines {
		fmt.Fprintf(b, "  %-*s  %s\n", width, l.Name, l.Help)
	}
}

// Wrap breaks a sentence into lines of at most width characters, unless a word
// is longer.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
