package repl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gemline/repl/output"
)

// Padding that could push something out of sight is shown as a count.
const (
	mostBlankLines = 2
	mostBlanks     = 8   // inside a line or at its end
	mostIndent     = 100 // at its beginning
)

// blankCell is a character of braille that looks like a blank and is none.
const blankCell = "\u2800"

// honest returns text that a user decides on as it is shown: every character
// visible, and nothing moved out of sight by blanks.
func honest(s string) string {
	var out []string
	var blank []string // lines held back
	mark := ""         // which they begin with
	flush := func() {
		if len(blank) > mostBlankLines {
			blank = []string{fmt.Sprintf("%s(%d blank lines)", mark, len(blank))}
		}
		out = append(out, blank...)
		blank = nil
	}
	s = strings.ReplaceAll(unheaped(output.Escape(s)), blankCell, `\u{2800}`)
	for l := range strings.SplitSeq(s, "\n") {
		m, ok := blankLine(l)
		if !ok || m != mark {
			flush()
		}
		if ok {
			blank, mark = append(blank, l), m
		} else {
			out = append(out, unpadded(l))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// mostMarks is how many marks may stand on one letter. More of them cover the
// letters around it.
const mostMarks = 3

// unheaped returns s with marks as escapes that have no letter to stand on, or
// too many neighbours on it.
func unheaped(s string) string {
	if strings.IndexFunc(s, unicode.IsMark) < 0 {
		return s
	}
	var b strings.Builder
	marks, letter := 0, false
	for _, r := range s {
		if !unicode.IsMark(r) {
			marks, letter = 0, r > ' '
			b.WriteRune(r)
			continue
		}
		if marks++; letter && marks <= mostMarks {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// blankLine reports whether l is blank, apart from the mark of a diff.
func blankLine(l string) (mark string, ok bool) {
	if l != "" && (l[0] == '+' || l[0] == '-') {
		mark, l = l[:1], l[1:]
	}
	return mark, strings.TrimLeft(l, " \t") == "" && len(l) <= mostBlanks
}

// entitled returns the line that names what is decided on, in which nothing
// can look like another question where a narrow terminal wraps it.
func (c *Console) entitled(s string) string { return c.disarmed(honest(output.EscapeLine(s))) }

// disarmed returns s with nothing in it that begins like a question about a
// call, in the user's words or in ours.
func (c *Console) disarmed(s string) string {
	s = output.Choosing.ReplaceAllStringFunc(s, func(like string) string { return strings.TrimSuffix(like, "?") + `\x3f` })
	for _, mark := range []string{string(output.Permission) + ":", c.Out.Word(output.Permission) + ":"} {
		for i := 0; i+len(mark) <= len(s); i++ {
			if n := i + len(mark) - 1; strings.EqualFold(s[i:n+1], mark) {
				s = fmt.Sprintf(`%s\x%02x%s`, s[:n], s[n], s[n+1:])
			}
		}
	}
	return s
}

// narrowest is how many characters a terminal shows on a line at least.
const narrowest = 16

// inert returns a line of what is decided on, in which nothing can look like a
// question where a terminal wraps it. What a line begins with the writer marks.
func (c *Console) inert(l string) string {
	if len(l) <= narrowest {
		return l
	}
	return l[:narrowest] + c.disarmed(l[narrowest:])
}

// unpadded returns l with long runs of blanks as a count.
func unpadded(l string) string {
	var b strings.Builder
	for i := 0; i < len(l); {
		n := len(l[i:]) - len(strings.TrimLeft(l[i:], " \t"))
		if n == 0 {
			b.WriteByte(l[i])
			i++
			continue
		}
		most := mostBlanks
		if i <= 1 && i+n < len(l) { // behind the mark of a diff, too
			most = mostIndent
		}
		if n > most {
			fmt.Fprintf(&b, " (%d blanks) ", n)
		} else {
			b.WriteString(l[i : i+n])
		}
		i += n
	}
	return b.String()
}

// hides reports whether s holds what can only be shown as an escape.
func hides(s string) bool { return output.Escape(s) != s }

// mixed returns the first word of s whose letters are of several alphabets
// that look alike.
func mixed(s string) string {
	alphabets := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek}
	words := strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for w := range words {
		var seen [3]bool
		kinds := 0
		for _, r := range w {
			for i, t := range alphabets {
				if !seen[i] && unicode.Is(t, r) {
					seen[i] = true
					kinds++
				}
			}
		}
		if kinds > 1 {
			return w
		}
	}
	return ""
}

// points returns the code points of the letters in word that are not plain
// ones, each once.
func points(word string) string {
	var all []string
	for _, r := range word {
		if p := fmt.Sprintf("%U", r); r > unicode.MaxASCII && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}
