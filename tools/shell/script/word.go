package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gemline/engine"
)

// A word is a word of a script.
type word struct {
	text  string // the value, or the source if the value is not known
	known bool
	split bool // unknown, and may expand to any number of words
}

// engine returns w in the policy's form.
func (w word) engine() engine.Word { return engine.Word{Text: w.text, Known: w.known} }

// literal returns the value of w, if it is known. It does not read commands in w.
func literal(w *syntax.Word) word {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && strings.IndexFunc(l.Value, special) < 0 {
			return word{text: l.Value, known: true}
		}
	}
	var text strings.Builder
	var bare strings.Builder // the unquoted characters, and ' for each quoted one
	known, split := true, false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			ok := unescape(&text, &bare, p.Value, false)
			known = known && ok
		case *syntax.SglQuoted:
			s, ok := p.Value, true
			if p.Dollar {
				s, ok = ansi(s)
			}
			known = known && ok
			text.WriteString(s)
			bare.WriteString("'")
		case *syntax.DblQuoted:
			known = known && !p.Dollar
			bare.WriteString("'")
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					known = unescape(&text, nil, lit.Value, true) && known
				} else if s, ok := printed(q); ok {
					text.WriteString(s)
				} else {
					known = false
					split = split || severalWords(q)
				}
			}
		default:
			known, split = false, true
		}
	}
	if expands(bare.String()) {
		known, split = false, true
	}
	return word{text: text.String(), known: known, split: split}
}

// severalWords reports whether p may become several words in spite of its quotes.
func severalWords(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && (e.Param == nil || e.Param.Value == "@" || e.Index != nil || e.Excl ||
		e.Exp != nil || e.Slice != nil || e.Repl != nil)
}

// unescape writes lit without its backslashes to text, and its unquoted characters to bare,
// if bare is not nil. In double quotes a backslash quotes fewer characters.
func unescape(text, bare *strings.Builder, lit string, quoted bool) bool {
	for i := 0; i < len(lit); i++ {
		c := lit[i]
		if c != '\\' {
			text.WriteByte(c)
			if bare != nil {
				bare.WriteByte(c)
			}
			continue
		}
		if i++; i == len(lit) {
			return false
		}
		if c = lit[i]; c == '\n' {
			return false
		}
		if quoted && !strings.ContainsRune("$`\"\\", rune(c)) {
			text.WriteByte('\\')
		}
		text.WriteByte(c)
		if bare != nil {
			bare.WriteByte('\'')
		}
	}
	return true
}

// expands reports whether the unquoted characters of a word make the shell
// replace it: a pattern, a home directory, braces.
func expands(bare string) bool {
	if strings.ContainsAny(bare, "*?[") && bare != "[" && bare != "[[" {
		return true
	}
	for i := range len(bare) {
		if bare[i] == '~' && (i == 0 || bare[i-1] == '=' || bare[i-1] == ':') {
			return true
		}
	}
	open, last := strings.IndexByte(bare, '{'), strings.LastIndexByte(bare, '}')
	if open >= 0 && last > open {
		between := bare[open:last]
		return strings.Contains(between, ",") || strings.Contains(between, "..")
	}
	// The parser and the shell may disagree about these outside of quotes.
	return strings.ContainsAny(bare, "`()<>;&|\n\t ")
}

// ansi returns the value of $'s'. Escapes that depend on the locale or the shell's version
// are unknown.
func ansi(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		const names, are = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
		if j := strings.IndexByte(names, s[i]); j >= 0 {
			b.WriteByte(are[j])
			continue
		}
		base, digits := 8, s[i:min(i+3, len(s))]
		if s[i] == 'x' {
			i++
			base, digits = 16, s[i:min(i+2, len(s))]
		}
		n := 0
		for n < len(digits) && digitOf(digits[n], base) {
			n++
		}
		c, _ := strconv.ParseUint(digits[:n], base, 16) // 0 if there is no digit
		if c == 0 || c > 0x7f {
			return "", false
		}
		b.WriteByte(byte(c))
		i += n - 1
	}
	return b.String(), true
}

func digitOf(c byte, base int) bool {
	return c >= '0' && c <= '7' || base == 16 && (c >= '8' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
}
