package input

import "strings"

// breaks are the characters that end a reference unless they are escaped, or are part of
// the name of a file that is there. A blank always ends one.
const (
	blanks = " \t\r\n\v\f"
	breaks = blanks + ",;!?()[]{}"
)

// Partial returns where the reference begins that reaches to the end of text,
// and the name so far, without escapes. It reports false if text ends in none.
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

// Reference returns how a prompt refers to a file of that name.
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

// A Candidate is what a piece of a line may become.
type Candidate struct {
	Text string // takes the place of the piece
	Show string // what a list shows for it; Text if empty
	Open bool   // more may follow, as behind a directory
}
