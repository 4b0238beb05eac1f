package workspace

import "strings"

// wildmatch reports whether name matches pattern by git's rules: bytes, not characters; *
// and ? match no slash; ** as a whole element does.
func wildmatch(pattern, name string) bool {
	m := matcher{pattern: pattern, name: name}
	return m.match(0, 0) == fits
}

// A matcher takes at most as many steps as the product of the lengths of pattern and name: when a
// later star has failed, no earlier star is tried again.
type matcher struct {
	pattern, name string
	steps         int
}

// A fit is how an attempt to match ended.
type fit int

const (
	fits    fit = iota
	differs     // no match from here
	stuck       // a star of this element failed: earlier stars in the element fail, too
	never       // a ** failed, or the name is too short: all later positions fail, too
)

// match matches the pattern from p on with the name from n on.
func (m *matcher) match(p, n int) fit {
	for ; p < len(m.pattern); p++ {
		m.steps++
		c := m.pattern[p]
		if c == '*' {
			return m.star(p, n)
		}
		if n == len(m.name) {
			return never
		}
		switch c {
		case '?':
			if m.name[n] == '/' {
				return differs
			}
		case '[':
			in, end := class(m.pattern, p, m.name[n])
			if !in {
				m.steps += len(m.pattern) - p
				return differs
			}
			m.steps += end - p
			p = end
		case '\\':
			if p++; p == len(m.pattern) {
				return differs
			}
			fallthrough
		default:
			if m.pattern[p] != m.name[n] {
				return differs
			}
		}
		n++
	}
	if n == len(m.name) {
		return fits
	}
	return differs
}

// star is match where the pattern has a star at p.
func (m *matcher) star(p, n int) fit {
	start := p
	for p < len(m.pattern) && m.pattern[p] == '*' {
		p++
	}
	rest := m.pattern[p:]
	deep := p-start > 1 && (start == 0 || m.pattern[start-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
	end, failed := len(m.name), never
	if !deep {
		failed = stuck
		if slash := strings.IndexByte(m.name[n:], '/'); slash >= 0 {
			end = n + slash
		}
	}
	if rest == "" {
		if end == len(m.name) {
			return fits
		}
		return failed
	}
	if deep && rest[0] == '/' { // no directory at all
		if f := m.match(p+1, n); f == fits || f == never {
			return f
		}
	}
	for i := n; i <= end; i++ {
		m.steps++
		switch f := m.match(p, i); {
		case f == fits || f == never:
			return f
		case f == stuck && !deep:
			return f
		}
	}
	return failed
}

// class reports whether c is in the bracket expression at p, and returns its end. A slash
// never matches.
func class(pattern string, p int, c byte) (in bool, end int) {
	at := func(i int) byte {
		if i < len(pattern) {
			return pattern[i]
		}
		return 0
	}
	p++
	not := at(p) == '!' || at(p) == '^'
	if not {
		p++
	}
	var last byte // the start of a possible range
	for first := true; first || at(p) != ']'; first, p = false, p+1 {
		b := at(p)
		switch {
		case b == 0:
			return false, 0
		case b == '\\':
			p++
			if b = at(p); b == 0 {
				return false, 0
			}
			in = in || c == b
			last = b
		case b == '-' && last != 0 && at(p+1) != 0 && at(p+1) != ']':
			p++
			if b = at(p); b == '\\' {
				p++
				if b = at(p); b == 0 {
					return false, 0
				}
			}
			in = in || last <= c && c <= b
			last = 0
		case b == '[' && at(p+1) == ':':
			close := strings.IndexByte(pattern[p+2:], ']')
			if close < 0 {
				return false, 0
			}
			name, named := strings.CutSuffix(pattern[p+2:p+2+close], ":")
			if !named { // an ordinary bracket
				in = in || c == '['
				last = '['
				continue
			}
			is, known := ctype(name, c)
			if !known {
				return false, 0
			}
			in = in || is
			p += 2 + close
			last = 0
		default:
			in = in || c == b
			last = b
		}
	}
	return in != not && c != '/', p
}

// ctype reports whether c is in the named class of ASCII characters.
func ctype(name string, c byte) (is, known bool) {
	lower := 'a' <= c && c <= 'z'
	upper := 'A' <= c && c <= 'Z'
	digit := '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return strings.IndexByte(" \t\n\r", c) >= 0, true // as in git
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
