package schema

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"

	lib "github.com/google/jsonschema-go/jsonschema"
)

// effort is how much may be done to decide whether a value fits, and again to
// say why it does not. A unit is what looking at one small value by one schema
// takes, about a microsecond. An answer of a megabyte takes a tenth of it.
const effort = 4_000_000

// A node is a value, or one inside it.
type node struct {
	v      any
	fields map[string]*node
	names  []string // of the fields, in order
	items  []*node
	size   int // about the length of its text
}

// grow returns v as a node. Of v, which it owns, a negative zero becomes zero.
func grow(v any) *node {
	n := &node{v: v, size: 1}
	switch v := v.(type) {
	case map[string]any:
		n.fields = make(map[string]*node, len(v))
		for name, field := range v {
			f := grow(field)
			v[name], n.fields[name] = f.v, f
			n.size += len(name) + f.size
		}
		n.names = sorted(v)
	case []any:
		n.items = make([]*node, len(v))
		for i, item := range v {
			n.items[i] = grow(item)
			v[i] = n.items[i].v
			n.size += n.items[i].size
		}
	case string:
		n.size += len(v)
	case float64:
		if v == 0 {
			n.v = 0.0
		}
	}
	return n
}

// A judge decides whether values fit. It decides about each pair of a schema
// and a value once, so that references that multiply cost no more than what
// they lead to, and it gives up when it has had enough.
type judge struct {
	*Schema
	known map[pair]verdict
	left  int // of the effort; below zero it has given up, and nothing it says counts
	depth int
}

// deepest is how far schemas and values may lead into each other; beyond it a
// judge gives up.
const deepest = 50_000

func (s *Schema) judge() *judge { return &judge{Schema: s, known: map[pair]verdict{}, left: s.effort} }

// over reports whether j has given up.
func (j *judge) over() bool { return j.left < 0 }

type pair struct {
	schema *lib.Schema
	node   *node
}

// A verdict says whether a value fits, and what of it was looked at by whom
// the unevaluated keywords ask about.
type verdict struct {
	fits bool
	seen *seen // nil if nothing, or if nobody asks
}

// seen is what of an object or a list was looked at.
type seen struct {
	all   bool // of it
	names map[string]bool
	items map[int]bool
}

func (j *judge) fits(s *lib.Schema, n *node) bool { return j.hear(s, n).fits }

// hear decides whether n fits s.
func (j *judge) hear(s *lib.Schema, n *node) verdict {
	if j.depth > deepest {
		j.left = -1
	}
	if j.left--; j.over() {
		return verdict{}
	}
	if n.fields == nil && n.items == nil && s.Ref == "" && len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil && s.If == nil {
		return verdict{fits: j.alone(s, n)} // as fast as looking it up
	}
	at := pair{s, n}
	v, ok := j.known[at]
	if !ok {
		j.depth++
		v = j.decide(s, n)
		j.depth--
		j.known[at] = v
	}
	return v
}

// decide is judge, for the first time.
func (j *judge) decide(s *lib.Schema, n *node) verdict {
	sum := &seen{names: map[string]bool{}, items: map[int]bool{}}
	if !j.asked {
		sum = nil
	}
	if s.Ref != "" {
		v := j.hear(j.target(s.Ref), n)
		if !v.fits || j.root.Schema == draft07 {
			return v
		}
		sum.add(v.seen)
	}
	if !j.alone(s, n) || !j.together(s, n, sum) {
		return verdict{}
	}
	if n.items != nil && !j.list(s, n.items, sum) || n.fields != nil && !j.object(s, n, sum) {
		return verdict{}
	}
	return verdict{fits: true, seen: sum}
}

// add adds what another schema has looked at.
func (s *seen) add(o *seen) {
	if s == nil || o == nil {
		return
	}
	s.all = s.all || o.all
	for name := range o.names {
		s.names[name] = true
	}
	for i := range o.items {
		s.items[i] = true
	}
}

// together decides by the schemas in s that speak of the same value.
func (j *judge) together(s *lib.Schema, n *node, sum *seen) bool {
	some := func(subs []*lib.Schema) (fitting int) {
		for _, sub := range subs {
			if v := j.hear(sub, n); v.fits {
				fitting++
				sum.add(v.seen)
			}
		}
		return fitting
	}
	switch {
	case some(s.AllOf) < len(s.AllOf),
		s.AnyOf != nil && some(s.AnyOf) == 0,
		s.OneOf != nil && some(s.OneOf) != 1,
		s.Not != nil && j.fits(s.Not, n):
		return false
	}
	if s.If != nil {
		branch := s.Then
		if some([]*lib.Schema{s.If}) == 0 {
			branch = s.Else
		}
		if branch != nil && some([]*lib.Schema{branch}) == 0 {
			return false
		}
	}
	needs, reqs := s.DependentSchemas, s.DependentRequired
	if j.root.Schema == draft07 {
		needs, reqs = s.DependencySchemas, s.DependencyStrings
	}
	for _, name := range sorted(needs) {
		if n.fields[name] != nil && some([]*lib.Schema{needs[name]}) == 0 {
			return false
		}
	}
	for _, name := range sorted(reqs) {
		if n.fields[name] != nil && !n.has(reqs[name]) {
			return false
		}
	}
	return true
}

func (n *node) has(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return n.fields[name] == nil })
}

// list decides by the schemas of s about items.
func (j *judge) list(s *lib.Schema, items []*node, sum *seen) bool {
	first, rest := s.PrefixItems, s.Items
	if j.root.Schema == draft07 {
		if first = s.ItemsArray; first != nil {
			rest = s.AdditionalItems
		}
	}
	looked := func(i int) {
		if sum != nil {
			sum.items[i] = true
		}
	}
	contained := 0
	for i, item := range items {
		by := rest
		if i < len(first) {
			by = first[i]
		}
		if by != nil {
			if !j.fits(by, item) {
				return false
			}
			looked(i)
		}
		if s.Contains != nil && j.fits(s.Contains, item) {
			contained++
			looked(i)
		}
	}
	if s.Contains != nil {
		least := 1
		if s.MinContains != nil {
			least = *s.MinContains
		}
		if contained < least || s.MaxContains != nil && contained > *s.MaxContains {
			return false
		}
	}
	if s.UnevaluatedItems == nil || sum.all {
		return true
	}
	for i, item := range items {
		if !sum.items[i] && !j.fits(s.UnevaluatedItems, item) {
			return false
		}
	}
	sum.all = true
	return true
}

// object decides by the schemas of s about the fields of n.
func (j *judge) object(s *lib.Schema, n *node, sum *seen) bool {
	if !n.has(s.Required) {
		return false
	}
	j.left -= len(s.Required) / 10
	for _, name := range n.names {
		field, known := n.fields[name], false
		if p := s.Properties[name]; p != nil {
			if known = true; !j.fits(p, field) {
				return false
			}
		}
		for _, pattern := range sorted(s.PatternProperties) {
			if j.matches(pattern, name) {
				if known = true; !j.fits(s.PatternProperties[pattern], field) {
					return false
				}
			}
		}
		if !known && s.AdditionalProperties != nil {
			if known = true; !j.fits(s.AdditionalProperties, field) {
				return false
			}
		}
		if known && sum != nil {
			sum.names[name] = true
		}
		if s.PropertyNames != nil && !j.fits(s.PropertyNames, grow(name)) {
			return false
		}
	}
	if s.UnevaluatedProperties == nil || sum.all {
		return true
	}
	for _, name := range n.names {
		if !sum.names[name] && !j.fits(s.UnevaluatedProperties, n.fields[name]) {
			return false
		}
	}
	sum.all = true
	return true
}

// matches reports whether text matches a pattern of the schema.
func (j *judge) matches(pattern, text string) bool {
	p := j.patterns[pattern]
	if j.left -= len(text) * p.size / 250; j.over() {
		return false
	}
	return p.MatchString(text)
}

// alone decides by the keywords of s that speak of a value without other
// schemas.
func (j *judge) alone(s *lib.Schema, n *node) bool {
	j.left -= len(s.Enum) / 4
	if s.Type != "" && !isOf(n.v, s.Type) ||
		s.Types != nil && !slices.ContainsFunc(s.Types, func(t string) bool { return isOf(n.v, t) }) ||
		s.Const != nil && !j.equal(*s.Const, n) ||
		s.Enum != nil && !slices.ContainsFunc(s.Enum, func(e any) bool { return j.equal(e, n) }) {
		return false
	}
	switch v := n.v.(type) {
	case float64:
		return within(s, v)
	case string:
		if s.MinLength != nil || s.MaxLength != nil {
			j.left -= len(v) / 1000
			if length := utf8.RuneCountInString(v); outside(length, s.MinLength, s.MaxLength) {
				return false
			}
		}
		return s.Pattern == "" || j.matches(s.Pattern, v)
	case []any:
		return !outside(len(v), s.MinItems, s.MaxItems) && !(s.UniqueItems && j.twice(n))
	case map[string]any:
		return !outside(len(v), s.MinProperties, s.MaxProperties)
	}
	return true
}

// isOf reports whether v is of a type. Whole numbers are integers, however
// they are written.
func isOf(v any, name string) bool {
	k := kind(v)
	return k == name || k == "integer" && name == "number"
}

func within(s *lib.Schema, v float64) bool {
	if s.MultipleOf != nil {
		if _, rest := math.Modf(v / *s.MultipleOf); rest != 0 {
			return false
		}
	}
	return (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum) &&
		(s.ExclusiveMinimum == nil || v > *s.ExclusiveMinimum) && (s.ExclusiveMaximum == nil || v < *s.ExclusiveMaximum)
}

func outside(n int, least, most *int) bool {
	return least != nil && n < *least || most != nil && n > *most
}

// equal reports whether n is the value v of a schema.
func (j *judge) equal(v any, n *node) bool {
	if j.left -= n.size / 100; kind(v) != kind(n.v) {
		return false
	}
	return reflect.DeepEqual(v, n.v)
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
