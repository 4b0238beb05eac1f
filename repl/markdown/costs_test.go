package markdown

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestCosts(t *testing.T) {
	et.Costs(t, func(s string) { shown(s) }, seeds...)
}
