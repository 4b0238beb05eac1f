package repl

import (
	"encoding/json"
	"fmt"
	"math"

	"gemline/engine/text"
	"gemline/repl/output"
)

// sound returns v, the value of a JSON document, in a form that has one: valid
// text, and no numbers that are none.
func sound(v any) (_ any, invalid bool) {
	switch v := v.(type) {
	case string:
		c := output.UTF8{Raw: true}
		return c.All(v), c.Invalid()
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			k, bad := sound(key)
			value, worse := sound(value)
			m[k.(string)] = value
			invalid = invalid || bad || worse
		}
		return m, invalid
	case []any:
		s := make([]any, len(v))
		for i := range v {
			var bad bool
			s[i], bad = sound(v[i])
			invalid = invalid || bad
		}
		return s, invalid
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
	case nil, bool, int:
	default: // no value of a decoded document
		if _, err := json.Marshal(v); err != nil {
			return sound(fmt.Sprint(v))
		}
	}
	return v, false
}

// marshal returns v as compact JSON in which nothing stands raw that could not be seen.
func marshal(v any) []byte {
	b, err := text.JSON(v, "")
	if err != nil {
		panic(err) // a mistake in this package
	}
	return output.JSON(b)
}
