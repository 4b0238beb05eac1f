package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A keyword speaks of a value without other schemas.
type keyword struct {
	name string
	of   string // the type of the values that it speaks of; "" is any
	fits func(j *judge, want, n *node) bool
	say  func(want, n *node) string
}

// A rule is a keyword and what a schema has for it.
type rule struct {
	keyword
	want *node
}

// keywords has them in the order in which they are told.
var keywords = []keyword{
	{"type", "", func(_ *judge, want, n *node) bool {
		return slices.ContainsFunc(want.each(), func(t *node) bool { return n.is(t.v.(string)) })
	}, func(want, n *node) string {
		return fmt.Sprintf("must be of type %s, not %s",
			want.joined(" or ", func(t *node) string { return t.v.(string) }), n.kind())
	}},
	{"enum", "", func(j *judge, want, n *node) bool {
		j.left -= len(want.items) / 4
		return slices.ContainsFunc(want.items, func(e *node) bool { return j.equal(e, n) })
	}, func(want, n *node) string { return "must be one of " + want.joined(", ", (*node).quoted) + n.but() }},
	{"const", "", (*judge).equal, func(want, n *node) string { return "must be " + want.quoted() + n.but() }},
	number("minimum", "at least", func(v, want float64) bool { return v >= want }),
	number("maximum", "at most", func(v, want float64) bool { return v <= want }),
	number("exclusiveMinimum", "more than", func(v, want float64) bool { return v > want }),
	number("exclusiveMaximum", "less than", func(v, want float64) bool { return v < want }),
	number("multipleOf", "a multiple of", func(v, want float64) bool {
		_, rest := math.Modf(v / want)
		return rest == 0
	}),
	count("minLength", "string", "at least %s characters"),
	count("maxLength", "string", "at most %s characters"),
	{"pattern", "string", func(j *judge, want, n *node) bool { return j.matches(want.v.(string), n.v.(string)) },
		func(want, _ *node) string { return "must match the pattern " + want.v.(string) }},
	{"format", "string", func(j *judge, want, n *node) bool {
		s, known := shapes[want.v.(string)]
		return !known || j.matches(s.pattern, n.v.(string))
	}, func(want, _ *node) string { return "must be " + shapes[want.v.(string)].words }},
	count("minItems", "array", "at least %s items"),
	count("maxItems", "array", "at most %s items"),
	{"uniqueItems", "array", func(j *judge, want, n *node) bool { return want.v == false || !j.twice(n) },
		func(_, _ *node) string { return "must not have an item twice" }},
	count("minProperties", "object", "at least %s properties"),
	count("maxProperties", "object", "at most %s properties"),
}

func number(name, words string, fits func(v, want float64) bool) keyword {
	return keyword{name, "number",
		func(_ *judge, want, n *node) bool { return fits(n.v.(float64), want.v.(float64)) },
		func(want, n *node) string { return "must be " + words + " " + want.quoted() + n.but() }}
}

func count(name, of, words string) keyword {
	return keyword{name, of, func(j *judge, want, n *node) bool {
		length := len(n.items) + len(n.fields)
		if s, ok := n.v.(string); ok {
			j.left -= len(s) / 1000
			length = utf8.RuneCountInString(s)
		}
		return within(length, want, name[:3])
	}, func(want, _ *node) string { return fmt.Sprintf("must have "+words, want.quoted()) }}
}

// within reports whether n is no less than a "min" and no more than a "max".
func within(n int, want *node, bound string) bool {
	w := want.v.(float64)
	return bound == "min" && float64(n) >= w || bound == "max" && float64(n) <= w
}

// equal reports whether n is the value want of a schema.
func (j *judge) equal(want, n *node) bool {
	j.left -= n.size / 100
	return want.kind() == n.kind() && reflect.DeepEqual(want.v, n.v)
}

// twice reports whether a list has an item twice.
func (j *judge) twice(n *node) bool {
	if j.left -= n.size / 10; j.over() {
		return false
	}
	texts := make(map[string]bool, len(n.items))
	for _, item := range n.items {
		b, err := json.Marshal(item.v) // equal values have equal texts
		if err != nil || texts[string(b)] {
			return true
		}
		texts[string(b)] = true
	}
	return false
}

// matches reports whether text matches a pattern of the schema.
func (j *judge) matches(pattern, text string) bool {
	p := j.schema.patterns[pattern]
	if j.left -= 1 + len(text)*p.size/250; j.over() {
		return false
	}
	return p.MatchString(text)
}

// each returns the items of a list, and of what is no list itself.
func (n *node) each() []*node {
	if n.items == nil {
		return []*node{n}
	}
	return n.items
}

func (n *node) joined(by string, words func(*node) string) string {
	var all []string
	for _, item := range n.each() {
		all = append(all, words(item))
	}
	return strings.Join(all, by)
}

// but says what n is instead, if that is short.
func (n *node) but() string {
	const most = 60
	if n.size > most {
		return ""
	}
	if s := n.quoted(); len(s) <= most {
		return ", not " + s
	}
	return ""
}
