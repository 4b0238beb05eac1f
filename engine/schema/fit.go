package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/text"
)

// deepestFit is how deep in arguments mistakes are mended.
const deepestFit = 20

// safeInteger is the largest number up to which all integers are exact in JSON.
const safeInteger = 1 << 53

// Fit returns the arguments of a call as the schema wants them, where it is plain which
// ones were meant: values of another type that say the same, such as "1" for an integer,
// without null for what is optional, and without names that the schema does not take,
// which note lists. The problem says in one line all that still does not fit, and what is
// unknown; it is "" if the rest fits. Args are not changed.
func (s *Schema) Fit(args map[string]any) (fitted map[string]any, note, problem string) {
	if args == nil {
		args = map[string]any{}
	}
	b, err := json.Marshal(args)
	if err != nil {
		return args, "", err.Error()
	}
	n, _, p := read(b)
	if p != nil {
		return args, "", at(p)
	}
	problems := s.judge(n)
	if len(problems) == 0 {
		return args, "", ""
	}
	f := fitter{j: &judge{schema: s, known: map[pair]verdict{}, left: s.effort}}
	fitted, isObject := f.fit(s.root, n, 0).(map[string]any)
	if !isObject || f.j.over() {
		fitted = args
	}
	if b, err = json.Marshal(fitted); err != nil {
		return args, "", err.Error()
	}
	if n, _, p = read(b); p != nil {
		return args, "", at(p)
	}
	var all []string
	for _, p := range s.judge(n) {
		all = append(all, at(p))
	}
	note = strings.Join(f.unknown, ", ")
	if note != "" && len(all) > 0 {
		all = append(all, "unknown: "+note)
	}
	return fitted, note, strings.Join(all, "; ")
}

func at(p *Problem) string { return "params" + p.At + " " + p.Message }

// A fitter makes values fit.
type fitter struct {
	j       *judge
	unknown []string // names that were left out, in words
}

// accepts reports whether n fits s.
func (f *fitter) accepts(s *subschema, n *node) bool {
	v := f.j.verdictOf(s, n)
	return v.fits()
}

// fit returns the value that n was meant to be.
func (f *fitter) fit(s *subschema, n *node, depth int) any {
	if depth > deepestFit || f.j.over() || f.accepts(s, n) {
		return n.v
	}
	s = s.plain()
	if len(n.items) == 1 && slices.Equal(s.types(), []string{"string"}) && f.accepts(s, n.items[0]) {
		return n.items[0].v // one text in a list is the text
	}
	if list := s.args["enum"]; list != nil && n.items == nil && n.fields == nil && n.v != nil {
		for _, one := range list.items {
			if one.items == nil && one.fields == nil && one.v != nil && fmt.Sprint(one.v) == fmt.Sprint(n.v) {
				return one.v // a number as a text, or the other way round
			}
		}
	}
	if o := converted(s, n); o != nil {
		o.parent, o.key, n = n.parent, n.key, o
	}
	switch {
	case n.fields != nil:
		return f.object(s, n, depth)
	case n.items != nil && len(s.subs["items"]) == 1 && s.subs["prefixItems"] == nil:
		list := []any{}
		for _, item := range n.items {
			list = append(list, f.fit(s.subs["items"][0], item, depth+1))
		}
		return list
	}
	return n.v
}

// object returns the object that n was meant to be.
func (f *fitter) object(s *subschema, n *node, depth int) any {
	object := map[string]any{}
	var unknown []string
	for _, name := range n.names {
		field, of := n.fields[name], s.named["properties"][name]
		switch {
		case of != nil && says(field.v) == "" && !f.accepts(of, field) && !s.requires(name):
		case of != nil:
			object[name] = f.fit(of, field, depth+1)
		case forbids(s.subs["additionalProperties"]) && !slices.ContainsFunc(s.patterns,
			func(pattern string) bool { return f.j.matches(pattern, name) }):
			unknown = append(unknown, name)
		default:
			object[name] = field.v
		}
	}
	f.tellUnknown(s, n, object, unknown)
	return object
}

// says returns the text of a value, which is empty for null, also where a text says null.
func says(v any) string {
	text, isText := v.(string)
	switch {
	case v == nil, isText && slices.Contains([]string{"", "null", "none"}, strings.ToLower(strings.TrimSpace(text))):
		return ""
	}
	return fmt.Sprint(v)
}

// tellUnknown notes names that an object does not take, each with the name that was
// probably meant: the one that is lacking, or the nearest.
func (f *fitter) tellUnknown(s *subschema, n *node, object map[string]any, unknown []string) {
	var lacking, free []string
	for _, name := range sorted(s.named["properties"]) {
		if _, there := object[name]; !there {
			free = append(free, name)
			if s.requires(name) {
				lacking = append(lacking, name)
			}
		}
	}
	for _, name := range unknown {
		words := strings.TrimPrefix(n.pointer()+"/", "/") + text.Shorten(name, 60)
		meant := likely(name, lacking)
		if meant == "" && len(lacking) == 1 && len(unknown) == 1 {
			meant = lacking[0]
		}
		if meant == "" {
			meant = likely(name, free)
		}
		if words = quoted(words); meant != "" {
			words += " (did you mean " + quoted(meant) + "?)"
		}
		if len(f.unknown) < most {
			f.unknown = append(f.unknown, words)
		}
	}
}

// likely returns which one of names is meant by a name: the nearest in spelling, or the
// only one that has all of it, or that it has. It is "" if that is not plain.
func likely(name string, names []string) (meant string) {
	bare := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, n := range names {
		a, b := bare(name), bare(n)
		if !strings.Contains(a, b) && (len(a) < 3 || !strings.Contains(b, a)) {
			continue
		}
		if a == b {
			return n
		}
		if meant != "" {
			return text.Nearest(name, names)
		}
		meant = n
	}
	if meant != "" || len(name) < 3 {
		return meant
	}
	return text.Nearest(name, names)
}

// requires reports whether an object lacks something without a name.
func (s *subschema) requires(name string) bool {
	r := s.args["required"]
	return r != nil && slices.ContainsFunc(r.items, func(n *node) bool { return n.v == name })
}

// plain returns the schema that s is another word for: of a reference, and of a choice
// between one schema and null.
func (s *subschema) plain() *subschema {
	for range 10 {
		var others []*subschema
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			for _, o := range s.subs[key] {
				if t := o.args["type"]; t == nil || t.v != "null" {
					others = append(others, o)
				}
			}
		}
		switch {
		case s.args["type"] != nil || s.named["properties"] != nil:
			return s
		case s.ref != nil:
			s = s.ref
		case len(others) == 1:
			s = others[0]
		default:
			return s
		}
	}
	return s
}

// types returns the types that s asks for, without null.
func (s *subschema) types() (list []string) {
	if t := s.args["type"]; t != nil {
		for _, n := range t.each() {
			if name, _ := n.v.(string); name != "null" {
				list = append(list, name)
			}
		}
	} else if s.named["properties"] != nil {
		list = append(list, "object")
	}
	return list
}

// converted returns n as a value of the type that s asks for, if that says the same. It is
// nil if n has the type, if s takes several types, and if nothing says the same.
func converted(s *subschema, n *node) *node {
	types := s.types()
	if len(types) != 1 || n.is(types[0]) {
		return nil
	}
	switch v := n.v.(type) {
	case string:
		return fromText(s, types[0], strings.TrimSpace(v), n)
	case float64:
		whole := v == math.Trunc(v) && math.Abs(v) < safeInteger
		if types[0] == "string" && whole {
			return leaf(strconv.FormatFloat(v, 'f', -1, 64))
		}
		if types[0] == "boolean" && (v == 0 || v == 1) {
			return leaf(v == 1)
		}
	case bool:
		if types[0] == "string" {
			return leaf(strconv.FormatBool(v))
		}
	}
	return wrapped(s, types[0], n)
}

// fromText returns what a text says as a value of a type.
func fromText(s *subschema, kind, v string, n *node) *node {
	if kind == "boolean" {
		if b, err := strconv.ParseBool(strings.ToLower(v)); err == nil && len(v) > 1 {
			return leaf(b)
		}
		return nil
	}
	m, _, p := read([]byte(v))
	if p == nil && m.is(kind) {
		if number, ok := m.v.(float64); ok && math.Abs(number) >= safeInteger {
			return nil
		}
		return m
	}
	return wrapped(s, kind, n)
}

// wrapped returns a list of n, where a list of such values is asked for.
func wrapped(s *subschema, kind string, n *node) *node {
	if kind != "array" || len(s.subs["items"]) != 1 || n.v == nil {
		return nil
	}
	if t, isText := n.v.(string); isText && (strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{")) {
		return nil // it was to be JSON
	}
	if of := s.subs["items"][0].plain().types(); len(of) != 1 || !n.is(of[0]) {
		return nil
	}
	list := &node{v: []any{n.v}, size: n.size + 1}
	item := *n
	item.parent, item.key = list, "0"
	list.items = []*node{&item}
	return list
}

func leaf(v any) *node { return &node{v: v, size: 1} }
