package jsonc

import (
	"encoding/json"
	"testing"

	et "gemline/engine/enginetest"
)

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { Parse("f", []byte(s)) }, `{"model": {"name": "${A:-b}"}, "x": [1, /* c */ 2,],}`, "/*", "// ", `{"a":1,`)
	et.Bounds(t, func(s string) { Set([]byte(s), []string{"a", "b"}, json.RawMessage("1")) }, `{"a":{"b":1,},}`, "{\n// c\n\"a\": 1}", "/* x */")
}
