package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"
)

// A Problem is something about a value that does not fit.
type Problem struct {
	At      string // the place as a JSON pointer; "" is the whole
	Message string
}

// Error returns the place and the message in one line.
func (p *Problem) Error() string {
	if p.At == "" {
		return p.Message
	}
	return p.At + ": " + p.Message
}

// Check returns the JSON value that text is, without the white space between
// its parts and otherwise as it stands, or what is wrong with it.
func (s *Schema) Check(text string) (json.RawMessage, []*Problem) {
	n, compact, p := read([]byte(text))
	if p != nil {
		return nil, []*Problem{p}
	}
	if problems := s.judge(n); len(problems) > 0 {
		return nil, problems
	}
	return compact, nil
}

// A node is a value, or one inside it.
type node struct {
	v      any
	parent *node
	key    string // in the parent
	fields map[string]*node
	names  []string // of the fields, in order
	items  []*node
	size   int // about the length of its text
}

// read returns the value that text is, and the text without white space. The
// problem is why it is no value that everybody reads in the same way.
func read(text []byte) (*node, json.RawMessage, *Problem) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, &Problem{Message: "is empty, and no JSON"}
	}
	if !utf8.Valid(text) {
		return nil, nil, &Problem{Message: "is not valid UTF-8"}
	}
	var compact json.RawMessage
	if err := json.Unmarshal(text, &compact); err != nil {
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
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n := &node{}
	return n, b.Bytes(), n.read(d, token(d))
}

// token returns the next token of sound JSON.
func token(d *json.Decoder) json.Token {
	t, err := d.Token()
	if err != nil {
		panic(err)
	}
	return t
}

// read reads a value of sound JSON, of which t is the first token, into n.
func (n *node) read(d *json.Decoder, t json.Token) *Problem {
	n.size = 1
	add := func(key string, t json.Token) (*node, *Problem) {
		child := &node{parent: n, key: key}
		p := child.read(d, t)
		n.size += len(key) + child.size
		return child, p
	}
	switch t := t.(type) {
	case json.Number:
		v, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return n.problem("is a number that is too large")
		}
		if v == 0 {
			v = 0 // and not a negative one
		}
		n.v = v
	case string:
		n.v, n.size = t, len(t)+1
	case json.Delim:
		if t == '{' {
			return n.readObject(d, add)
		}
		n.items = []*node{}
		list := []any{}
		for t := token(d); t != json.Delim(']'); t = token(d) {
			item, p := add(strconv.Itoa(len(list)), t)
			if p != nil {
				return p
			}
			n.items, list = append(n.items, item), append(list, item.v)
		}
		n.v = list
	default:
		n.v = t
	}
	return nil
}

func (n *node) readObject(d *json.Decoder, add func(string, json.Token) (*node, *Problem)) *Problem {
	n.fields = map[string]*node{}
	object := map[string]any{}
	for t := token(d); t != json.Delim('}'); t = token(d) {
		name := t.(string)
		if n.fields[name] != nil {
			return (&node{parent: n, key: name}).problem("stands there twice")
		}
		field, p := add(name, token(d))
		if p != nil {
			return p
		}
		n.fields[name], object[name] = field, field.v
		n.names = append(n.names, name)
	}
	slices.Sort(n.names)
	n.v = object
	return nil
}

// pointer returns the place of n as a JSON pointer.
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.pointer() + "/" + escaped(n.key)
}

// escaped returns a name as it stands in a JSON pointer.
func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// problem returns what is wrong with n, in one line that a person reads.
func (n *node) problem(format string, args ...any) *Problem {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return &Problem{At: n.pointer(), Message: text.Shorten(line, 300)}
}

// kind names the type of the value. Whole numbers are integers, however they
// are written.
func (n *node) kind() string {
	switch v := n.v.(type) {
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

// is reports whether the value is of a type.
func (n *node) is(name string) bool {
	k := n.kind()
	return k == name || k == "integer" && name == "number"
}

// quoted returns the value as JSON.
func (n *node) quoted() string { return quoted(n.v) }

func quoted(v any) string {
	b, err := text.JSON(v, "")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
