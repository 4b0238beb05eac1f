package settings

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { parseEnv(s) }, "export A='1\n2' # x\nB: `", "A=\"${B}\"\n", "A=1\n")
}
