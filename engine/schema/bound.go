package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// effort is the limit of work for a check. A unit is about the library's work to check a
	// small value by a small schema: a few microseconds.
	effort = 1_000_000

	deepest    = 200     // nested schemas for the same value
	maxPattern = 200_000 // steps of the programs of all patterns
	most       = 20      // reported problems
)

// errTooLong is the panic that ends a check. The library has no other way to end it.
var errTooLong = errors.New("takes too long to hold to this schema")

// spend counts units of work of a check.
func (s *Schema) spend(units int) {
	if s.budget -= units; s.budget < 0 {
		panic(errTooLong)
	}
}

// within runs a check and reports whether it came to its end.
func (s *Schema) within(check func()) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = s.effort
	defer func() {
		if r := recover(); r != nil && r != errTooLong {
			panic(r)
		}
	}()
	check()
	return true
}

// bound adds a meter to each reachable schema. It refuses chains of schemas that are circular, or
// too long, without a step into the value: a check would never end, or overflow the stack.
func (s *Schema) bound() *Problem {
	const open = -1
	depth := map[*jsonschema.Schema]int{}
	queue := []*jsonschema.Schema{s.root}
	var visit func(t *jsonschema.Schema) *Problem
	visit = func(t *jsonschema.Schema) *Problem {
		switch d := depth[t]; {
		case d == open:
			return problem(pointerOf(t.Location), "refers to itself without end")
		case d > 0:
			return nil
		case t.DynamicRef != nil:
			return problem(append(pointerOf(t.Location), "$dynamicRef"), "is not understood; $ref is")
		case t.RecursiveRef != nil:
			return problem(append(pointerOf(t.Location), "$recursiveRef"), "is not understood; $ref is")
		}
		depth[t] = open
		same, inside := parts(t)
		m, far := meter{schema: s, each: weight(t)}, 0
		for _, u := range same {
			if p := visit(u); p != nil {
				return p
			}
			far, m.each = max(far, depth[u]), m.each+weight(u)
		}
		if depth[t] = far + 1; far >= deepest {
			return problem(pointerOf(t.Location), "leads through more than %d schemas for one value", deepest)
		}
		for _, u := range inside {
			m.child += weight(u)
		}
		if len(t.Properties) > 0 { // each property is checked by one of them
			m.child = max(1, m.child/len(t.Properties))
		}
		s.heaviest = max(s.heaviest, m.each+m.child)
		if t.Bool == nil {
			t.Extensions = append(t.Extensions, m)
		}
		queue = append(queue, inside...)
		return nil
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if p := visit(queue[0]); p != nil {
			return p
		}
	}
	return nil
}

// parts returns the schemas in t: the schemas for the same value, and the schemas for values
// inside it.
func parts(t *jsonschema.Schema) (same, inside []*jsonschema.Schema) {
	same = list(t.Ref, t.AllOf, t.AnyOf, t.OneOf, t.Not, t.If, t.Then, t.Else, t.DependentSchemas, t.Dependencies)
	inside = list(t.Properties, t.AdditionalProperties, t.PropertyNames, t.UnevaluatedProperties, t.Contains, t.PatternProperties,
		t.Items, t.AdditionalItems, t.PrefixItems, t.Items2020, t.UnevaluatedItems)
	return same, inside
}

// list returns the schemas in values of keywords, in order.
func list(values ...any) (all []*jsonschema.Schema) {
	for _, v := range values {
		switch v := v.(type) {
		case *jsonschema.Schema:
			if v != nil {
				all = append(all, v)
			}
		case []*jsonschema.Schema:
			all = append(all, v...)
		case map[string]*jsonschema.Schema:
			all = slices.AppendSeq(all, maps.Values(v))
		case map[jsonschema.Regexp]*jsonschema.Schema:
			all = slices.AppendSeq(all, maps.Values(v))
		case map[string]any:
			all = append(all, list(slices.Collect(maps.Values(v))...)...)
		}
	}
	slices.SortFunc(all, func(a, b *jsonschema.Schema) int { return strings.Compare(a.Location, b.Location) })
	return all
}

// weight estimates the steps that checking a small value by the keywords of t alone takes: the
// library compares numbers exactly, and slowly.
func weight(t *jsonschema.Schema) int {
	n := 1
	if t.Enum != nil {
		n += size(t.Enum.Values) / 2
	}
	if t.Const != nil {
		n += size(*t.Const) / 2
	}
	return n
}

// size returns the number of values in v, including v. A number counts twice.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case float64, json.Number:
		n = 2
	case string:
		n += len(v) / 1000
	case []any:
		for _, item := range v {
			n += size(item)
		}
	case map[string]any:
		for _, item := range v {
			n += size(item)
		}
	}
	return n
}

// A meter counts the library's work for a schema, afterwards. It also counts the subschemas,
// since the library skips their meters if a value has another type.
type meter struct {
	schema *Schema
	each   int // weight of the schema and of subschemas for the same value
	child  int // weight of subschemas for a value inside it
}

// Validate implements [jsonschema.SchemaExt].
func (m meter) Validate(at *jsonschema.ValidatorContext, v any) {
	children := 0
	switch v := v.(type) {
	case []any:
		children = len(v)
	case map[string]any:
		children = len(v)
	}
	m.schema.spend((m.each + children*m.child) * (1 + len(at.ValueLocation())/8)) // each error copies its location
}

// A pattern is a regular expression of the schema.
type pattern struct {
	program *regexp.Regexp
	schema  *Schema
	size    int // about how many steps the program has
}

func (p pattern) MatchString(text string) bool {
	p.schema.spend(1 + len(text)*p.size/500)
	return p.program.MatchString(text)
}

func (p pattern) String() string { return p.program.String() }

// patterns returns the compiler of patterns, which estimates the size of a program before it
// compiles.
func (s *Schema) patterns() jsonschema.RegexpEngine {
	known, total := map[string]pattern{}, 0
	return func(text string) (jsonschema.Regexp, error) {
		if p, ok := known[text]; ok {
			return p, nil
		}
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		size := steps(tree)
		if total += size; total > maxPattern {
			return nil, errors.New("takes too much, with all the other patterns")
		}
		known[text] = pattern{regexp.MustCompile(text), s, size}
		return known[text], nil
	}
}

// steps returns about how many steps the program of a pattern has.
func steps(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}
