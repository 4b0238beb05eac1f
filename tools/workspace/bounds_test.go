package workspace

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	w, err := New(Config{Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	et.Bounds(t, func(s string) { w.Resolve(s) }, "a/b", "../x", "a\x00/", "~/x")
}
