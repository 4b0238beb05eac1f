package policy

import "strings"

// mostDeep is how deep a file of rules may be nested. Rules need three levels,
// and the parser takes time by the square of the depth.
const mostDeep = 40

// deep returns the line in which text, which may be TOML, is nested too deep:
// in tables and lists, or in the names of keys. It returns 0 if none is.
func deep(text string) int {
	line, open, dots := 1, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			line++
			dots = 0
		case '#':
			i += lineEnd(text[i:]) - 1
		case '"', '\'':
			n := quotation(text[i:])
			line += strings.Count(text[i:i+n], "\n")
			i += n - 1
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '.':
			dots++
		}
		if open > mostDeep || dots > mostDeep {
			return line
		}
	}
	return 0
}

// quotation returns the length of the text in quotation marks that s begins
// with. One that does not end is as long as its line, or as s if it may go
// over several.
func quotation(s string) int {
	mark, end := s[:1], lineEnd(s)
	if long := strings.Repeat(mark, 3); strings.HasPrefix(s, long) {
		mark, end = long, len(s)
	}
	for i := len(mark); i < end; i++ {
		switch {
		case s[i] == '\\' && mark[0] == '"':
			i++
		case strings.HasPrefix(s[i:], mark):
			return i + len(mark)
		}
	}
	return end
}

// lineEnd returns the length of the line that s begins with, without its end.
func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}
