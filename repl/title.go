package repl

import (
	"fmt"
	"strings"

	"gemline/repl/output"
)

// titleText returns the title of a proposal. Even when a narrow terminal wraps it, no part of it
// looks like another question.
func titleText(o *output.Writer, s string) string {
	return disarm(o, output.Sanitize(output.EscapeLine(s)))
}

// disarm returns s without text that begins like a question about a call, with default or
// user-defined labels.
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

// narrowest is the smallest width of a terminal, in characters, that is considered.
const narrowest = 16

// detailText returns a line of a proposal. Even when a terminal wraps it, no part of it looks like
// a question. The writer marks the beginning of a line.
func detailText(o *output.Writer, l string) string {
	if len(l) <= narrowest {
		return l
	}
	return l[:narrowest] + disarm(o, l[narrowest:])
}
