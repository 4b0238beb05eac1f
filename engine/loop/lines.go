package loop

import (
	"strings"
	"unicode"

	"gemline/engine/text"
)

const (
	longestDivider = 500 // characters of a line that does nothing but divide
	longestMark    = 12  // characters that say what a line is
)

var (
	fence     = text.Pattern("^\\s*(```+|~~~+)")
	structure = text.Pattern(`^\s*([|>]|#+\s|\d{1,9}[.)]\s|[-*+]\s)`) // a row of a table, a quote, a heading, an item
	divider   = text.Pattern(`^[-+_=*\s\x{2500}-\x{257f}]*$`)
)

// lines says which characters of a Markdown text count: characters in code and in lines that
// only divide don't.
type lines struct {
	lead  []rune // the beginning of a line, until its kind is known
	known bool
	skip  bool   // the rest of the line does not count
	code  string // the fence that opened the code, "" outside of code
}

// add takes in a character. It returns the characters that count now, and whether the text
// before them does not count any more.
func (l *lines) add(r rune) (fresh bool, ripe []rune) {
	ends := r == '\n'
	switch {
	case l.known:
		if !l.skip {
			ripe = []rune{r}
		}
	case l.code != "":
		if !ends && len(l.lead) < longestDivider {
			l.lead = append(l.lead, r)
			return false, nil
		}
		mark := strings.TrimSpace(string(l.lead))
		if ends && len(mark) >= len(l.code) && strings.Trim(mark, l.code[:1]) == "" {
			l.code = ""
		}
		l.known, l.skip = true, true
	default:
		fresh, ripe = l.begin(r)
	}
	if ends {
		l.lead, l.known, l.skip = nil, false, false
	}
	return fresh, ripe
}

// begin takes in a character at the beginning of a line outside of code.
func (l *lines) begin(r rune) (fresh bool, ripe []rune) {
	l.lead = append(l.lead, r)
	line, ends := string(l.lead), r == '\n'
	mark := strings.TrimLeftFunc(line, unicode.IsSpace)
	divides := divider().MatchString(line)
	if !ends && len(l.lead) <= longestDivider && (divides || len([]rune(mark)) < longestMark) {
		return false, nil
	}
	l.known = true
	if m := fence().FindStringSubmatch(line); m != nil {
		l.code, l.skip = m[1], true
		return true, nil
	}
	if divides && mark != "" && len(l.lead) <= longestDivider {
		return true, nil
	}
	return structure().MatchString(line), l.lead
}
