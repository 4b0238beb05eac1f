package output

import (
	"fmt"
	"sync/atomic"
	"unicode/utf8"
)

// A gate lets outside text through to a line: what could act on the terminal
// becomes an escape.
type gate struct {
	ascii bool
	style Style  // of the text that is taken in
	tail  []byte // text whose meaning depends on the next bytes
	wrap  wrap   // of a paragraph that is broken between words
	line  line

	touched atomic.Bool // something else may have moved the cursor
}

// noticeTouch takes the cursor for moved if something else may have moved it.
func (g *gate) noticeTouch() {
	if g.touched.Swap(false) {
		g.wrap.joinProse()
		g.line.settleHead()
		g.line.atStart, g.line.blank = false, false
	}
}

// take moves outside text to the line, as far as its meaning is known.
func (g *gate) take(p []byte) {
	g.noticeTouch()
	p, g.tail = append(g.tail, p...), nil
	if !g.wrap.on {
		g.wrap.joinProse()
	}
	for len(p) > 0 {
		if n := printable(p); n > 0 { // it does not depend on the text before it
			g.put(p[:n])
			g.line.before = rune(p[n-1])
			p = p[n:]
			continue
		}
		switch c := p[0]; {
		case c == '\n':
			g.wrap.endProse()
			g.line.settleHead()
			g.line.newline()
			p = p[1:]
		case c == '\r' && len(p) == 1, c >= 0x80 && !known(p):
			g.tail = append([]byte(nil), p...)
			return
		case c == '\r' && p[1] == '\n':
			p = p[1:] // a line end is a line end
		default:
			p = p[g.one(p):]
		}
	}
}

// prose takes in spans whose lines are broken where they don't fit into a width.
func (g *gate) prose(width int, spans ...Span) {
	if width < narrowest {
		width = 0
	}
	g.wrap.on, g.wrap.width = true, width
	for _, s := range spans {
		g.wrap.flow, g.wrap.hang = s.Flow, s.Hang
		g.style = s.Style
		g.take([]byte(s.Text))
	}
	g.wrap.on = false
	g.style = Normal
}

// known reports whether p begins with a character, and enough behind it to know how the character
// is shown.
func known(p []byte) bool {
	if !utf8.FullRune(p) {
		return false
	}
	r, n := utf8.DecodeRune(p)
	return !waits(r) || utf8.FullRune(p[n:])
}

// printable returns how many bytes p begins with that are shown as they are.
func printable(p []byte) int {
	for i, c := range p {
		if c < 0x20 && c != '\t' || c >= 0x7f {
			return i
		}
	}
	return len(p)
}

// one puts the first character of p and returns its length.
func (g *gate) one(p []byte) int {
	r, n := utf8.DecodeRune(p)
	known := r // an escape takes no selector and joins with nothing
	switch {
	case r == utf8.RuneError && n == 1:
		g.put(fmt.Appendf(nil, `\x%02x`, p[0]))
		known = 0
	case (hidden(r) || selector(r)) && !placedIn(string(p[n:min(len(p), n+utf8.UTFMax)]), g.line.before, r, false):
		g.put([]byte(escaped(r)))
		known = 0
	case g.ascii:
		g.put([]byte(ascii(r)))
	default:
		g.put(p[:n])
	}
	g.line.before = known
	return n
}

// put appends the shown form of b.
func (g *gate) put(b []byte) {
	if g.wrap.on {
		g.wrap.lay(g.style, b)
	} else {
		g.line.place(g.style, b)
	}
}

// settle puts the held-back bytes: nothing follows them.
func (g *gate) settle() {
	if len(g.tail) > 0 {
		g.wrap.joinProse()
	}
	for p := g.tail; len(p) > 0; {
		p = p[g.one(p):]
	}
	g.tail = nil
	g.wrap.endProse()
	g.line.settleHead()
}
