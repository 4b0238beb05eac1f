package journal

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { history(fold([]byte(s), false).messages); fold([]byte(s), true) }, head+"\n"+`{"id":"q","type":"user","content":"hi"}`+"\n", `{"$rewindTo":"q"}`+"\n", `{"$set":{"messages":[{"id":"q"}]}}`+"\n")
}
