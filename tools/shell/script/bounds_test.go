package script

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { Read(s) }, "git log | rm -rf x; ", "$(a `b` ${x:-$(c)}) ", "a <<E\n$(b)\nE\n", "if a; then b; fi; ", "((1+2))", "[[ a ]]", "sh -c 'a; b' ", "x=(a b) ")
}
