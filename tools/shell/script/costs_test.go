package script

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestCosts(t *testing.T) {
	et.Costs(t, func(s string) { Read(s) }, "git log | rm -rf x; ", "$(a `b` ${x:-$(c)}) ", "a <<E\n$(b)\nE\n", "if a; then b; fi; ", "((1+2))", "[[ a ]]", "sh -c 'a; b' ", "x=(a b) ")
}
