package engine

import "strings"

// A Command is one simple command that a call would run.
type Command struct {
	Argv    []Word   // the program and its arguments; empty if only Env is set
	Wrapper string   // the program that would run it, such as sudo; empty if the shell does
	Env     []string // variables set for it, or for all later commands: NAME=value
	Facts   Facts    // known facts about the program

	// Safe reports whether the command is read-only: with these arguments and in its
	// directory it changes nothing and shows no secrets. Risk says why it is not safe, if a
	// reason was found.
	Safe bool
	Risk string
}

// Facts are the properties of a program that a policy depends on. All are false for an unknown
// program.
type Facts struct {
	Writes           bool // it may create or change what its arguments name
	ModifiesOperands bool // it changes or removes each file that its arguments name
	Broad            bool // its name alone says too little for a rule to allow it
	Subcommands      bool // name and sub-command together say enough for a rule
	Runner           bool // one of its arguments names a program to run
}

// A Word is a word of a command. Its value may be unknown before the command runs; then Text
// is the word as written.
type Word struct {
	Text  string
	Known bool
}

// Program returns the name of the program without its directory, and whether it is known. On some
// systems names ignore case, so a comparison must fold them.
func (c Command) Program() (name string, known bool) {
	if len(c.Argv) == 0 {
		return "", len(c.Env) > 0 // nothing is run
	}
	w := c.Argv[0]
	return w.Text[strings.LastIndexByte(w.Text, '/')+1:], w.Known
}

// Words returns the words of c before the first unknown word.
func (c Command) Words() []string {
	var words []string
	for _, w := range c.Argv {
		if !w.Known {
			break
		}
		words = append(words, w.Text)
	}
	return words
}

// String returns c on one line, each word by its value or, if that is unknown, as written.
func (c Command) String() string {
	words := append([]string{}, c.Env...)
	for _, w := range c.Argv {
		words = append(words, w.Text)
	}
	return strings.Join(words, " ")
}

// Line returns c as an unambiguous text: its variables, and its words as quoted by [Quote].
func (c Command) Line() string {
	var all []string
	for _, set := range c.Env {
		if name, value, ok := strings.Cut(set, "="); ok && strings.ContainsAny(value, " \t\n") &&
			!strings.ContainsAny(value, `'"`) {
			set = name + "='" + value + "'"
		}
		all = append(all, set)
	}
	if len(c.Argv) > 0 {
		all = append(all, Quote(c.Argv))
	}
	return strings.Join(all, " ")
}

// Quote joins words to a line. A word that could be read as several words, or as something else,
// gets quotation marks. A word whose value is not known stays as written.
func Quote(words []Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.Known && (w.Text == "" || strings.ContainsAny(w.Text, " \t\n'\"\\$`;&|<>(){}*?[]#~!")) {
			b.WriteString("'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'")
		} else {
			b.WriteString(w.Text)
		}
	}
	return b.String()
}

// A Class says how well it is known what a call will run. The zero Class is
// the least.
type Class int

// The classes.
const (
	Opaque   Class = iota // it may run more than its Commands
	Readable              // it runs all or some of its Commands, and nothing else
	Plain                 // Readable, and each word is known
)

// String returns the class in a word.
func (c Class) String() string { return [...]string{"opaque", "readable", "plain"}[c] }
