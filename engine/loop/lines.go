package loop

import (
	"strings"

	"gemline/engine/text"
)

const longestDivider = 500 // characters of a line that does nothing but divide

var (
	fence     = text.Pattern("^\\s*(```+|~~~+)")
	structure = text.Pattern(`^\s*([|>]|#+\s|\d{1,9}[.)]\s|[-*+]\s)`) // a row of a table, a quote, a heading, an item
	divider   = text.Pattern(`^[-+_=*\s\x{2500}-\x{257f}]*\n$`)
)

// lines says which characters of a Markdown text count: characters in code and in lines that
// only divide don't.
type lines struct {
	lead   []rune // the beginning of a line, until its end or as many characters as a divider has
	inside bool   // the line has been longer than that
	skip   bool   // it does not count
	code   string // the fence that opened the code, "" outside of code
}

// add takes in a character. It returns the characters that count now, which are good until
// the next call, and whether the text before them does not count any more.
func (l *lines) add(r rune) (fresh bool, ripe []rune) {
	l.lead = append(l.lead, r)
	ends := r == '\n'
	if !l.inside {
		if !ends && len(l.lead) <= longestDivider {
			return false, nil
		}
		fresh = l.begin(string(l.lead))
	}
	if !l.skip {
		ripe = l.lead
	}
	l.lead, l.inside = l.lead[:0], !ends
	return fresh, ripe
}

// begin looks at the beginning of a line, and reports whether the text before it does not
// count any more.
func (l *lines) begin(line string) (fresh bool) {
	mark := strings.TrimSpace(line)
	opens := fence().FindStringSubmatch(line)
	switch {
	case l.code != "":
		l.skip = true
		if strings.HasPrefix(mark, l.code) && strings.Trim(mark, l.code[:1]) == "" {
			l.code = ""
		}
		return false
	case opens != nil:
		l.skip, l.code = true, opens[1]
		return true
	}
	l.skip = mark != "" && divider().MatchString(line)
	return l.skip || structure().MatchString(line)
}
