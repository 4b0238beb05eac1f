package batch

import (
	"strings"
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	for _, format := range []Format{Lines, NUL, JSONL} {
		et.Bounds(t, func(s string) {
			for r := newReader(strings.NewReader(s), format); ; {
				if _, err := r.Next(); err != nil {
					return
				}
			}
		}, "one\ntwo\r\n", `{"prompt":"p"}`+"\n", "a\x00")
	}
}
