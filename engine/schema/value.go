package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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
	if p := sound([]byte(text)); p != nil {
		return nil, []*Problem{p}
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, []*Problem{{Message: "holds a number that is too large"}}
	}
	if problems := s.explain(grow(v)); len(problems) > 0 {
		return nil, problems
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		panic(err) // it is sound
	}
	return compact.Bytes(), nil
}

// sound returns why text is no JSON value that everybody reads in the same
// way, nil if it is one.
func sound(text []byte) *Problem {
	if len(bytes.TrimSpace(text)) == 0 {
		return &Problem{Message: "is empty, and no JSON"}
	}
	if !utf8.Valid(text) {
		return &Problem{Message: "is not valid UTF-8"}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		message := "is not JSON: " + err.Error()
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			before := text[:min(max(int(se.Offset)-1, 0), len(text))]
			line := bytes.Count(before, []byte("\n")) + 1
			column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
			message += fmt.Sprintf(" (line %d, column %d)", line, column)
		}
		return &Problem{Message: message}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return twice(d)
}

// A level is an object or a list that is being read.
type level struct {
	names map[string]bool // of an object
	name  string          // the one whose value comes next
	value bool            // and does
	n     int             // of a list: the values so far
}

// twice returns the first name that an object has twice.
func twice(d *json.Decoder) *Problem {
	var levels []level
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &Problem{Message: "is not JSON: " + err.Error()}
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if len(levels) > 0 {
			l := &levels[len(levels)-1]
			if l.names != nil && !l.value {
				l.name = t.(string)
				if l.names[l.name] {
					return &Problem{At: pointer(levels), Message: "stands there twice"}
				}
				l.names[l.name], l.value = true, true
				continue
			}
			l.value = false
			l.n++
		}
		switch t {
		case json.Delim('{'):
			levels = append(levels, level{names: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}

func pointer(levels []level) string {
	var b strings.Builder
	for _, l := range levels {
		b.WriteByte('/')
		if l.names != nil {
			b.WriteString(token(l.name))
		} else {
			b.WriteString(strconv.Itoa(l.n - 1))
		}
	}
	return b.String()
}
