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

// A Label is the word that a message of the program begins with.
type Label string

// The labels, which are a contract: screen readers jump by them.
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

// What a prompt of the program begins with.
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

// Choices are what the line of choices of an approval may begin with.
var Choices = []string{"y n ?", "y n w ", "y n r ", "y n a ", "y n e ", "y, n, "}

// ChoicesPattern is what looks like the line of choices, up to its question mark.
var ChoicesPattern = text.Pattern(`(?i)y(?: n(?: [wrabce]| a\d+)*|, n(?:, [^,]*?)*,) \?`)

// likeness says how the beginning of a line compares with what the program
// begins its own lines with.
type likeness int

const (
	unlike  likeness = iota // it is none
	partial                 // it may become one
	alike                   // it is one
)

// Words are what labels are called instead.
type Words map[Label]string

// word returns what l is called.
func (ws Words) word(l Label) string { return cmp.Or(ws[l], string(l)) }

// A label's word is short, of ASCII, and needs no quotation marks.
var labelWord = text.Pattern(`^[A-Za-z][A-Za-z0-9_-]{0,19}$`)

// Rename returns the Words of a user who has named labels, or says why they
// won't do. No two labels may be called the same.
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

// openings returns what the program's own lines begin with, in small letters:
// in the user's words, and in ours, which other parts of the program go on
// using.
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

// compare looks at the beginning of a line, whose letters may be capitals.
func compare(b []byte, openings []string) likeness {
	found := unlike
	b = bytes.ReplaceAll(b, []byte(string(softHyphen)), nil) // which nobody sees
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
			found = partial // of another it may be all
		}
	}
	return found
}

// quote precedes a line of outside text that begins like a message of the program.
const quote = "| "
