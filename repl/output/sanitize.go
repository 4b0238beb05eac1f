package output

import (
	"fmt"
	"strings"
	"unicode"
)

// Limits of padding. A count replaces longer padding, which could move text out of sight.
const (
	mostBlankLines = 2
	mostBlanks     = 8   // inside a line or at its end
	mostIndent     = 100 // at the beginning of a line
)

// blankCell is a character of braille that looks like a blank.
const blankCell = "\u2800"

// Sanitize returns the shown form of a text that the user decides on: every character is visible,
// and no blanks move text out of sight.
func Sanitize(s string) string {
	var out []string
	var blank []string // lines held back
	mark := ""         // the mark of a diff before them
	flush := func() {
		if len(blank) > mostBlankLines {
			blank = []string{fmt.Sprintf("%s(%d blank lines)", mark, len(blank))}
		}
		out = append(out, blank...)
		blank = nil
	}
	s = strings.ReplaceAll(escapeMarks(Escape(s)), blankCell, `\u{2800}`)
	for l := range strings.SplitSeq(s, "\n") {
		m, ok := blankLine(l)
		if !ok || m != mark {
			flush()
		}
		if ok {
			blank, mark = append(blank, l), m
		} else {
			out = append(out, collapseBlanks(l))
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// mostMarks is the most marks on one letter. More marks would cover the letters around it.
const mostMarks = 3

// escapeMarks escapes marks without a letter before them, or with too many marks on the same
// letter.
func escapeMarks(s string) string {
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

// collapseBlanks replaces long runs of blanks in l by a count.
func collapseBlanks(l string) string {
	var b strings.Builder
	for i := 0; i < len(l); {
		n := max(1, len(l[i:])-len(strings.TrimLeft(l[i:], " \t")))
		most := mostBlanks
		if (i == 0 || i == 1 && strings.Contains("+-", l[:1])) && i+n < len(l) { // also after the mark of a diff
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

// NeedsEscape reports whether s has characters that can only be shown as escapes.
func NeedsEscape(s string) bool { return Escape(s) != s }
