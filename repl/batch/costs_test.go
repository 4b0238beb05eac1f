package batch

import (
	"strings"
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestCosts(t *testing.T) {
	for _, format := range []Format{Lines, NUL, JSONL} {
		et.Costs(t, func(s string) {
			for r := NewReader(strings.NewReader(s), format); ; {
				if _, err := r.Next(); err != nil {
					return
				}
			}
		}, "one\ntwo\r\n", `{"prompt":"p"}`+"\n", "a\x00")
	}
}
