package schema

import (
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) {
		if c, err := Parse([]byte(s)); err == nil {
			c.Check(`{"a":1}`)
		}
	}, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"}}}`, `{"allOf":[`, `{"pattern":"(a*)*"}`)
	any, err := Parse([]byte(`{"type":"object","properties":{"a":{"type":"array"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	et.Bounds(t, func(s string) { any.Check(s) }, `{"a":[1]}`, `{"a":`)
}
