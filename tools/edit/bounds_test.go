package edit

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		Replace(s, "func f( a ) {", "x", true)
		Diff("a", "b", "a\nb\n", s)
	}, "func f( a ) {\n\n}\n", "a\r\n", "x\n")
}
