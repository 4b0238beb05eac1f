package talk

import (
	"strings"
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		for range readLines(strings.NewReader(s)) {
		}
	}, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]}}`+"\n", lines[0].line)
}
