package loop

import "unicode"

const (
	longestDivider = 500 // characters of a line that does nothing but divide
	shortestFence  = 3   // characters of what encloses code
)

// lines says which characters of a Markdown text count: those in code and in lines that
// only divide don't.
type lines struct {
	lead    []rune // the beginning of a line, until it is known what it is
	known   bool
	fence   rune // that opened the code, 0 outside of it
	fences  int  // how many of these
	opening bool // the line is its first
}

// add takes in a character. It returns those that count now, and whether what came before
// does not count any more.
func (l *lines) add(r rune) (fresh bool, ripe []rune) {
	switch {
	case r == '\n':
		return l.end()
	case l.known && (l.fence != 0 || l.opening):
		return false, nil
	case l.known:
		return false, []rune{r}
	}
	l.lead = append(l.lead, r)
	if l.fence != 0 { // only its end says whether the line closes the code
		l.known = len(l.lead) > longestDivider
		return false, nil
	}
	kind := kindOf(l.lead)
	if (kind == unclear || kind == dividing) && len(l.lead) <= longestDivider {
		return false, nil
	}
	l.known = true
	if kind == fenced {
		l.open()
		return true, nil
	}
	ripe, l.lead = l.lead, nil
	return kind == structure, ripe
}

// end ends a line.
func (l *lines) end() (fresh bool, ripe []rune) {
	lead, known, opening := l.lead, l.known, l.opening
	defer func() { l.lead, l.known, l.opening = nil, false, false }()
	c, n := fenceOf(lead)
	switch {
	case opening:
	case l.fence != 0:
		if c == l.fence && n >= l.fences && !known {
			l.fence = 0
		}
	case known:
		return false, []rune{'\n'}
	case n >= shortestFence: // nothing stands behind it
		l.open()
		return true, nil
	case kindOf(lead) == dividing:
		return true, nil
	default:
		return false, append(lead, '\n')
	}
	return false, nil
}

// open begins code.
func (l *lines) open() {
	l.fence, l.fences = fenceOf(l.lead)
	l.opening = true // the rest of the line says which language it is in
}

// A kind is what a line is.
type kind int

const (
	unclear   kind = iota // its beginning does not say yet
	prose                 // a text
	structure             // an item of a list, a row of a table, a heading, a quote
	dividing              // nothing so far but what divides
	fenced                // a fence of code
)

// kindOf says what the line is that begins with lead.
func kindOf(lead []rune) kind {
	for len(lead) > 0 && unicode.IsSpace(lead[0]) {
		lead = lead[1:]
	}
	if len(lead) == 0 {
		return unclear
	}
	if _, n := fenceOf(lead); n >= shortestFence && n < len(lead) {
		return fenced
	}
	switch r := lead[0]; {
	case r == '|', r == '>':
		return structure
	case r == '#':
		return after(lead, func(r rune) bool { return r == '#' }, "")
	case r >= '0' && r <= '9':
		return after(lead, unicode.IsDigit, ".)")
	case (r == '-' || r == '*' || r == '+') && len(lead) > 1 && unicode.IsSpace(lead[1]):
		return structure
	}
	for _, r := range lead {
		if !divides(r) {
			if _, n := fenceOf(lead); n == len(lead) {
				return unclear
			}
			return prose
		}
	}
	return dividing
}

// after says what a line is that begins with some of mark, then one of ends, if there are
// such, and a blank.
func after(lead []rune, mark func(rune) bool, ends string) kind {
	const longest = 9 // digits of a number that counts items
	n := 0
	for n < len(lead) && mark(lead[n]) {
		n++
	}
	if n > longest {
		return prose
	}
	lead = lead[n:]
	if ends != "" && len(lead) > 0 {
		if lead[0] != rune(ends[0]) && lead[0] != rune(ends[1]) {
			return prose
		}
		lead = lead[1:]
	}
	switch {
	case len(lead) == 0:
		return unclear
	case unicode.IsSpace(lead[0]):
		return structure
	}
	return prose
}

// divides reports whether a line of r alone only divides.
func divides(r rune) bool {
	switch r {
	case '+', '-', '_', '=', '*', ' ', '\t', '\r':
		return true
	}
	return r >= 0x2500 && r <= 0x257f
}

// fenceOf returns the character of the fence that a line begins with, and how many of it.
func fenceOf(lead []rune) (c rune, n int) {
	for len(lead) > 0 && unicode.IsSpace(lead[0]) {
		lead = lead[1:]
	}
	if len(lead) == 0 || lead[0] != '`' && lead[0] != '~' {
		return 0, 0
	}
	for n < len(lead) && lead[n] == lead[0] {
		n++
	}
	return lead[0], n
}
