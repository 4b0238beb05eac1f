package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine/lists"
	"gemline/engine/text"
)

// read parses text, with numbers as [text.JSONNumber] returns them, and returns its value and the text without white
// space. The problem explains why text is invalid or ambiguous: the library would take the last
// of two fields with the same name, and all memory for a number like 1e999999999.
func read(text []byte, deepest int) (any, json.RawMessage, *Problem) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, &Problem{Message: "is empty, and no JSON"}
	}
	if !utf8.Valid(text) {
		return nil, nil, &Problem{Message: "is not valid UTF-8"}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		message := "is not JSON: " + err.Error()
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			before := text[:min(max(int(se.Offset)-1, 0), len(text))]
			line := bytes.Count(before, []byte("\n")) + 1
			column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
			message += fmt.Sprintf(" (line %d, column %d)", line, column)
		}
		return nil, nil, &Problem{Message: message}
	}
	var b bytes.Buffer
	json.Compact(&b, text) // which was read
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, p := next(d, deepest, make([]string, 0, 16)) // room for the places of most values
	return v, b.Bytes(), p
}

// next reads the value at a place from valid JSON.
func next(d *json.Decoder, deepest int, at []string) (any, *Problem) {
	t, _ := d.Token()
	if number, ok := t.(json.Number); ok {
		f, err := number.Float64()
		if err != nil {
			return nil, problem(at, "is a number that is too large")
		}
		if v := text.JSONNumber(number); v == any(number) {
			return v, nil
		}
		return f + 0, nil
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if len(at) == deepest {
		return nil, &Problem{Message: fmt.Sprintf("is nested deeper than %d", deepest)}
	}
	var object map[string]any // nil for a list
	if open == '{' {
		object = map[string]any{}
	}
	list := []any{}
	for d.More() {
		name := strconv.Itoa(len(list))
		if object != nil {
			t, _ := d.Token()
			name = t.(string)
			if _, twice := object[name]; twice {
				return nil, problem(append(at, name), "stands there twice")
			}
		}
		v, p := next(d, deepest, append(at, name))
		switch {
		case p != nil:
			return nil, p
		case object != nil:
			object[name] = v
		default:
			list = append(list, v)
		}
	}
	d.Token() // the bracket
	if object != nil {
		return object, nil
	}
	return list, nil
}

// pointer returns a place as a JSON pointer.
func pointer(at []string) string {
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return b.String()
}

// pointerOf returns the place in the fragment of an address.
func pointerOf(address string) []string {
	_, fragment, _ := strings.Cut(address, "#")
	fragment, _ = url.PathUnescape(fragment) // as the library has escaped it
	return lists.Map(strings.Split(fragment, "/")[1:], strings.NewReplacer("~1", "/", "~0", "~").Replace)
}

// lookup returns the value at a place in v.
func lookup(v any, at []string) (_ any, ok bool) {
	for _, name := range at {
		switch in := v.(type) {
		case map[string]any:
			v, ok = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if ok = err == nil && i >= 0 && i < len(in); ok {
				v = in[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

// kindOf names the type of a value. Whole numbers are integers, however they are written.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "integer"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// is reports whether a value is of a type.
func is(v any, name string) bool {
	k := kindOf(v)
	return k == name || k == "integer" && name == "number"
}

// quoted returns a value as JSON.
func quoted(v any) string {
	b, _ := text.JSON(v, "") // no error, since it was parsed
	return string(b)
}
