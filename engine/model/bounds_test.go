package model

import (
	"bytes"
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		for e := newEventReader(bytes.NewReader([]byte(s))); ; {
			if _, err := e.next(); err != nil {
				return
			}
		}
	}, "data: {\"a\":1}\n\n", ": x\n", "data\n", "\r\n\r\n")
	et.Bounds(t, func(s string) { new(decoder).fastDecode([]byte(s)); unwrapped([]byte(s)) }, `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`)
}
