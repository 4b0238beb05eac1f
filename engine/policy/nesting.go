package policy

// maxNesting is how deep a file of rules may be nested. Rules need three levels,
// and the parser takes time by the square of the depth.
const maxNesting = 40

// nestedTooDeep returns the line in which text, which may be TOML, is nested too deep:
// in tables and lists, or in the names of keys. It returns 0 if none is.
func nestedTooDeep(text string) int {
	s := scanner{text: text, line: 1}
	open, dots := 0, 0
	for !s.end() {
		switch s.text[s.at] {
		case '#':
			s.rest()
			continue
		case '"', '\'':
			s.quoted()
			continue
		case '\n':
			dots = 0
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '.':
			dots++
		}
		if open > maxNesting || dots > maxNesting {
			return s.line
		}
		s.skip(1)
	}
	return 0
}
