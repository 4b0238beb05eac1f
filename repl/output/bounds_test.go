package output

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		w := New(discard{}, Options{ASCII: true})
		for len(s) > 0 {
			n := min(1000, len(s))
			w.Text(s[:n])
			s = s[n:]
		}
		w.Fresh()
	}, "tool: x\n", "\u202e", "a\r\n", "⚠\ufe0f", "per")
	et.Bounds(t, func(s string) {
		w := New(discard{}, Options{})
		for len(s) > 0 {
			n := min(1000, len(s))
			w.Prose(80, Span{Text: s[:n]})
			s = s[n:]
		}
		w.Fresh()
	}, "tool: x ", "e\u0301", "\u0301", "日本。", "(（", " ", "👍🏽", "\u0600")
	et.Bounds(t, func(s string) { Escape(s); EscapeLine(s); Visible(s); toASCII(s) }, "\u202e\xff", "a")
}
