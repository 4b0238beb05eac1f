package output

import (
	"fmt"
	"sync/atomic"
	"unicode/utf8"
)

// A gate passes outside text to a line. It escapes characters that could act on the terminal.
type gate struct {
	ascii bool
	style Style  // of the current text
	tail  []byte // bytes whose meaning depends on the next bytes
	wrap  wrap   // of a paragraph that is broken between words
	line  line

	touched atomic.Bool // see [Writer.Touched]
}

// noticeTouch handles a possible movement of the cursor by something else.
func (g *gate) noticeTouch() {
	if g.touched.Swap(false) {
		g.wrap.joinProse()
		g.line.settleHead()
		g.line.atStart, g.line.blank = false, false
	}
}

// take passes outside text to the line, up to the bytes that depend on the next bytes.
func (g *gate) take(p []byte) {
	g.noticeTouch()
	p, g.tail = append(g.tail, p...), nil
	if !g.wrap.on {
		g.wrap.joinProse()
	}
	for len(p) > 0 {
		if n := printable(p); n > 0 { // this part does not depend on the text before it
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
			p = p[1:] // keep the line end, drop the carriage return
		default:
			p = p[g.one(p):]
		}
	}
}

// prose passes spans whose lines are broken at a width.
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

// known reports whether p has a whole character, and enough text after it to decide its shown form.
func known(p []byte) bool {
	if !utf8.FullRune(p) {
		return false
	}
	r, n := utf8.DecodeRune(p)
	return !waits(r) || utf8.FullRune(p[n:])
}

// printable returns the length of the prefix of p that is shown unchanged.
func printable(p []byte) int {
	for i, c := range p {
		if c < 0x20 && c != '\t' || c >= 0x7f {
			return i
		}
	}
	return len(p)
}

// one passes the first character of p and returns its length.
func (g *gate) one(p []byte) int {
	r, n := utf8.DecodeRune(p)
	known := r // an escape takes no selector and joins nothing
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

// settle passes the pending bytes: no more follow.
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
