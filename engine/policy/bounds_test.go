package policy_test

import (
	"testing"

	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { policy.Parse("p.toml", policy.User, []byte(s)) }, allowGit, denyRm, "a.b.c = [[{x = 1}]]\n", "[[rule]]\n", "[a.", "x = \"\"\"", "rule = [{")
}
