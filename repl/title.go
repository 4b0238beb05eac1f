package repl

import (
	"fmt"
	"strings"

	"gemline/repl/output"
)

// titleText returns the line that names the proposal, in which nothing
// can look like another question where a narrow terminal wraps it.
func titleText(o *output.Writer, s string) string {
	return disarm(o, output.Sanitize(output.EscapeLine(s)))
}

// disarm returns s with nothing in it that begins like a question about a
// call, in the user's words or in ours.
func disarm(o *output.Writer, s string) string {
	s = output.ChoicesPattern().ReplaceAllStringFunc(s,
		func(like string) string { return strings.TrimSuffix(like, "?") + `\x3f` })
	for _, mark := range []string{string(output.Permission) + ":", o.Word(output.Permission) + ":"} {
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

// detailText returns a line of what is decided on, in which nothing can look like a
// question where a terminal wraps it. What a line begins with the writer marks.
func detailText(o *output.Writer, l string) string {
	if len(l) <= narrowest {
		return l
	}
	return l[:narrowest] + disarm(o, l[narrowest:])
}
