package web

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		Find(s)
		if u, err := Parse(s); err == nil {
			Parse(u.String())
		}
	}, "https://example.com/a?b#c ", "http://[::ffff:127.0.0.1]:8077/", "http://xn--bcher-kva.", "http://a@")
}
