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

	"gemline/engine/text"
)

// read returns the value that text is, with numbers as float64, and the text without white
// space. The problem is why it is no value that everybody reads in the same way: the library
// would take the last of two fields of one name, and all the memory for a number like 1e999999999.
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
	if err := json.Compact(&b, text); err != nil {
		panic(err) // it was read
	}
	r := reader{json.NewDecoder(bytes.NewReader(text)), deepest, nil}
	r.UseNumber()
	v, p := r.value(r.token())
	return v, b.Bytes(), p
}

// A reader reads sound JSON.
type reader struct {
	*json.Decoder
	deepest int
	at      []string
}

func (r *reader) token() json.Token {
	t, err := r.Token()
	if err != nil {
		panic(err)
	}
	return t
}

// value returns the value of which t is the first token.
func (r *reader) value(t json.Token) (any, *Problem) {
	switch t := t.(type) {
	case json.Number:
		v, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return nil, problem(r.at, "is a number that is too large")
		}
		return v + 0, nil
	case json.Delim:
		if len(r.at) == r.deepest {
			return nil, &Problem{Message: fmt.Sprintf("is nested deeper than %d", r.deepest)}
		}
		if t == '{' {
			return r.object()
		}
		list := []any{}
		for t := r.token(); t != json.Delim(']'); t = r.token() {
			item, p := r.child(strconv.Itoa(len(list)), t)
			if p != nil {
				return nil, p
			}
			list = append(list, item)
		}
		return list, nil
	}
	return t, nil
}

func (r *reader) object() (any, *Problem) {
	object := map[string]any{}
	for t := r.token(); t != json.Delim('}'); t = r.token() {
		name := t.(string)
		if _, twice := object[name]; twice {
			return nil, problem(append(r.at, name), "stands there twice")
		}
		v, p := r.child(name, r.token())
		if p != nil {
			return nil, p
		}
		object[name] = v
	}
	return object, nil
}

func (r *reader) child(name string, t json.Token) (any, *Problem) {
	r.at = append(r.at, name)
	v, p := r.value(t)
	r.at = r.at[:len(r.at)-1]
	return v, p
}

// pointer returns a place as a JSON pointer.
func pointer(at []string) string {
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	return b.String()
}

// pointerOf returns the place that the fragment of an address is.
func pointerOf(address string) (at []string) {
	_, fragment, _ := strings.Cut(address, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	for _, name := range strings.Split(fragment, "/")[1:] {
		at = append(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	return at
}

// lookup returns the value at a place in v.
func lookup(v any, at []string) (any, bool) {
	for _, name := range at {
		switch in := v.(type) {
		case map[string]any:
			field, ok := in[name]
			if !ok {
				return nil, false
			}
			v = field
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
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
	b, err := text.JSON(v, "")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
