package input

import "strings"

// breaks are the characters that end a reference, unless they are escaped or are part of an
// existing file's name. A blank always ends a reference.
const (
	blanks = " \t\r\n\v\f"
	breaks = blanks + ",;!?()[]{}"
)

// Partial returns the start of an unfinished reference at the end of text, and its name so far,
// without escapes. It returns false if text does not end in a reference.
func Partial(text string) (start int, name string, ok bool) {
	var b strings.Builder
	start = -1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case start < 0 && c == '@' && (i == 0 || !isWord(text[i-1])):
			start = i
			b.Reset()
		case strings.IndexByte(breaks, c) >= 0:
			start = -1
		default:
			b.WriteByte(c)
		}
	}
	if start < 0 {
		return 0, "", false
	}
	return start, b.String(), true
}

// Reference returns a reference to a file for a prompt.
func Reference(name string) string {
	var b strings.Builder
	b.WriteByte('@')
	for _, c := range []byte(name) {
		if strings.IndexByte(breaks+`\"`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// A Candidate is a completion of a piece of a line.
type Candidate struct {
	Text string // replaces the piece
	Show string // what a list shows for it; Text if empty
	Open bool   // more text may follow, as after a directory
}
