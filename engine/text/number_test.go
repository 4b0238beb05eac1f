package text

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"
)

// Each whole number keeps its digits, and every other number is a float64, wherever it stands.
func TestUnmarshal(t *testing.T) {
	const document = `{"functionCall": {"name": "n", "args": {"a": 9007199254740993, "b": [-1234567890123456789, 1, {"c": 12345678901234567890123}],
		"d": 1234567890123456800, "e": 1.5, "f": 1e3, "g": 0.12345678901234567, "h": "9007199254740993", "i": null}}}`
	want := map[string]any{"a": json.Number("9007199254740993"),
		"b": []any{json.Number("-1234567890123456789"), 1., map[string]any{"c": json.Number("12345678901234567890123")}},
		"d": 1234567890123456800., "e": 1.5, "f": 1e3, "g": 0.12345678901234567, "h": "9007199254740993", "i": nil}
	type part genai.Part
	var p struct{ part }
	if err := Unmarshal([]byte(document), &p); err != nil || !reflect.DeepEqual(p.FunctionCall.Args, want) {
		t.Errorf("got %#v, %v\nwant %#v", p.FunctionCall, err, want)
	}
	for _, one := range []string{"9007199254740993", "[9007199254740993]", strings.Repeat(" ", 20) + `{"n":9007199254740993}`, "1e400", "[1", "1 9007199254740993"} {
		var v, plain any
		err, werr := Unmarshal([]byte(one), &v), json.Unmarshal([]byte(one), &plain)
		b, _ := json.Marshal(v)
		if (err == nil) != (werr == nil) || err == nil && string(b) != strings.TrimSpace(one) {
			t.Errorf("%s: got %s, %v; encoding/json says %v", one, b, err, werr)
		}
	}
}
