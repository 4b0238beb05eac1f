package shell

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { strip(s) }, "a\x1b[31mb", "\x1b]0;t\x07", "\x1bP", "\u009b")
}
