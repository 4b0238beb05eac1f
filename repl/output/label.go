package output

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemline/engine/text"
)

// A Label is the first word of a message of the program.
type Label string

// The labels are a contract: users of screen readers jump to them.
const (
	You        Label = "you"
	Gemini     Label = "gemini"
	Tool       Label = "tool"
	Result     Label = "result"
	Permission Label = "permission"
	Progress   Label = "progress"
	Warning    Label = "warning"
	Failure    Label = "error"
	Info       Label = "info"
	Done       Label = "done"
)

// Labels returns all labels.
func Labels() []Label {
	return []Label{You, Gemini, Tool, Result, Permission, Progress, Warning, Failure, Info, Done}
}

// The beginnings of the program's prompts.
const (
	Ready = "> " // for a question or a task
	Shell = "! " // for a command
)

// modes are the approval modes that the prompt shows.
var modes = []string{"plan", "auto_edit", "auto", "yolo"}

// ReadyIn returns the prompt for a question or a task in an approval mode.
func ReadyIn(mode string) string {
	if slices.Contains(modes, mode) {
		return mode + Ready
	}
	return Ready
}

// Choices are the possible beginnings of an approval's line of choices.
var Choices = []string{"y n ?", "y n w ", "y n r ", "y n a ", "y n e ", "y, n, "}

// ChoicesPattern matches text that looks like a line of choices, up to its question mark.
var ChoicesPattern = text.Pattern(`(?i)y(?: n(?: [wrabce]| a\d+)*|, n(?:, [^,]*?)*,) \?`)

// A likeness compares the beginning of a line with the beginnings of the program's own lines.
type likeness int

const (
	unlike  likeness = iota // it differs
	partial                 // more text may make it alike
	alike                   // it is the same
)

// Words are the user's names of labels.
type Words map[Label]string

// word returns the name of l.
func (ws Words) word(l Label) string { return cmp.Or(ws[l], string(l)) }

// labelWord matches a name for a label: short, ASCII, and without a need for quotation marks.
var labelWord = text.Pattern(`^[A-Za-z][A-Za-z0-9_-]{0,19}$`)

// Rename returns the Words for a user's names of labels, or an error. Two labels can't have the
// same name.
func Rename(names map[string]string) (Words, error) {
	words := Words{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch word := names[name]; {
		case !slices.Contains(Labels(), Label(name)):
			return nil, fmt.Errorf("%.40q is not a label; there are: %s", name, listed(Labels()))
		case !labelWord().MatchString(word):
			return nil, fmt.Errorf("%s can't be called %.40q: a letter, then letters, digits, - and _, 20 at most", name, word)
		default:
			words[Label(name)] = word
		}
	}
	called := map[string]Label{}
	for _, l := range Labels() {
		word := strings.ToLower(words.word(l))
		if other, twice := called[word]; twice {
			return nil, fmt.Errorf("%s and %s can't both be called %s", other, l, word)
		}
		called[word] = l
	}
	return words, nil
}

func listed(ls []Label) string {
	var names []string
	for _, l := range ls {
		names = append(names, string(l))
	}
	return strings.Join(names, ", ")
}

// openings returns the beginnings of the program's own lines in lower case: with the user's names
// and with the default names, which other parts of the program still use.
func openings(words Words) []string {
	all := slices.Concat([]string{Ready, Shell}, Choices)
	for _, mode := range modes {
		all = append(all, ReadyIn(mode))
	}
	for _, l := range Labels() {
		all = append(all, string(l)+":")
		if w := strings.ToLower(words.word(l)) + ":"; !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// compare compares the beginning of a line, in any case of letters.
func compare(b []byte, openings []string) likeness {
	found := unlike
	b = bytes.ReplaceAll(b, []byte(string(softHyphen)), nil) // it is invisible
	for _, o := range openings {
		if len(b) > len(o) {
			continue
		}
		same := true
		for i, c := range b {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != o[i] {
				same = false
				break
			}
		}
		switch {
		case same && len(b) == len(o):
			return alike
		case same:
			found = partial // it may still match another opening
		}
	}
	return found
}

// quote precedes a line of outside text that begins like a message of the program.
const quote = "| "
