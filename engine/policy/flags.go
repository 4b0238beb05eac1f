package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemline/engine"
)

// Entries returns lists of entries for tools.allowed with which a call may run unasked, the
// narrowest list first. The caller checks by [Policy.With] and Judge whether a list suffices.
func Entries(q engine.Proposal) (lists [][]string) {
	if runs(q) {
		if list := commandEntries(q.Intent.Plan.Commands); list != nil {
			lists = append(lists, list)
		}
	}
	return append(lists, []string{q.Tool.Name()})
}

// commandEntries returns an entry for each command, nil if a command has no valid entry.
func commandEntries(commands []engine.Command) (list []string) {
	for _, c := range commands {
		var words []string
		for _, w := range c.Words() {
			quoted, ok := quoteWord(w)
			if !ok {
				return nil
			}
			words = append(words, quoted)
		}
		if len(words) == 0 || words[0] == "''" || len(words) != len(c.Argv) || len(c.Env) > 0 {
			return nil
		}
		if entry := Shell + "(" + strings.Join(words, " ") + ")"; !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return list
}

// quoteWord quotes a word for [split]. A word with all kinds of quotation marks, with
// control characters or with bytes that are no UTF-8 can't be quoted.
func quoteWord(w string) (quoted string, ok bool) {
	plain := !strings.ContainsAny(w, " '\"\\$`;&|<>(){}*?[]#~!")
	switch {
	case strings.ContainsFunc(w, unicode.IsControl), !utf8.ValidString(w):
		return "", false
	case plain && w != "":
		return w, true
	case !strings.Contains(w, "'"):
		return "'" + w + "'", true
	case !strings.ContainsAny(w, "\"\\$`"):
		return `"` + w + `"`, true
	}
	return "", false
}

// With returns a copy of p in another mode and with more rules.
func (p *Policy) With(m Mode, more ...Rule) *Policy {
	c := p.WithUnattended(p.Unattended)
	c.mode, c.rules = m, slices.Concat(c.rules, more)
	return c
}
