package shell

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestCosts(t *testing.T) {
	et.Costs(t, func(s string) { strip(s) }, "a\x1b[31mb", "\x1b]0;t\x07", "\x1bP", "\u009b")
}
