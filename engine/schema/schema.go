package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// A Schema is one that was read and is sound. It may be used concurrently.
type Schema struct {
	text        json.RawMessage
	root        *subschema
	draft07     bool
	by          map[string]*subschema // by JSON pointer
	names       map[string]*subschema // by anchor
	patterns    map[string]pattern
	size        int  // of all patterns
	effort      int  // of a judge
	unevaluated bool // there are keywords about what was not looked at
}

// A subschema is a schema, or one inside it.
type subschema struct {
	at        string           // as a JSON pointer
	args      map[string]*node // of the keywords; nil of true and false
	never     bool             // it is false
	rules     []rule
	ref       *subschema
	subs      map[string][]*subschema          // by keyword: a list of schemas, or the only one
	named     map[string]map[string]*subschema // by keyword and name
	patterns  []string                         // of patternProperties, in order
	dependent map[string]*node                 // lists of names, by name
	simple    bool                             // it speaks of small values without other schemas
}

// The keywords whose values are schemas.
var (
	withNamed = []string{"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"}
	withSubs  = []string{"additionalProperties", "unevaluatedProperties", "propertyNames", "prefixItems", "items",
		"additionalItems", "unevaluatedItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contentSchema"}
	inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else"} // about the same value
	others  = []string{"required", "dependentRequired", "minContains", "maxContains", "$ref", "$id",
		"$schema", "$anchor"}
)

// known returns the names of all keywords that mean something here.
var known = sync.OnceValue(func() []string {
	all := slices.Concat(withNamed, withSubs, others)
	for _, k := range keywords {
		all = append(all, k.name)
	}
	return all
})

// The drafts that are understood, as $schema names them. Draft-06 differs from
// draft-07 only in what it lacks. The value is whether it is draft-07.
var drafts = map[string]bool{
	"json-schema.org/draft/2020-12/schema": false,
	"json-schema.org/draft-07/schema":      true,
	"json-schema.org/draft-06/schema":      true,
}

// meta is the schema of schemas, as far as it goes without the keywords that
// only say something about it.
//
//go:embed meta.json
var meta []byte

// How much a schema may be.
const (
	maxText    = 1 << 20 // bytes
	maxDepth   = 100     // of objects and lists in each other
	maxSchemas = 20_000  // objects, and the schemas true and false
)

// Load reads the schema that an argument is, or the file that it names, as
// [Parse] does: what begins with a brace is a schema.
func Load(arg string) (*Schema, error) {
	if strings.HasPrefix(strings.TrimSpace(arg), "{") {
		return Parse([]byte(arg))
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, err
	}
	s, err := Parse(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return s, nil
}

// Parse reads a schema: an object of draft 2020-12 or, if its $schema says so,
// of draft-07. The error says in one line what is wrong and where.
func Parse(text []byte) (*Schema, error) {
	if len(text) > maxText {
		return nil, errors.New("is larger than 1 MiB")
	}
	n, compact, p := read(text)
	if p != nil {
		return nil, p
	}
	if n.fields == nil {
		return nil, errors.New("a schema is an object")
	}
	switch depth, schemas := n.extent(); {
	case depth > maxDepth:
		return nil, fmt.Errorf("is nested deeper than %d", maxDepth)
	case schemas > maxSchemas:
		return nil, errors.New("has more than 20,000 schemas")
	}
	m, _, p := read(meta)
	if p != nil {
		panic(p) // a mistake in meta.json
	}
	schemas, err := parse(m)
	if err != nil {
		panic(err)
	}
	if problems := schemas.judge(n); len(problems) > 0 {
		return nil, problems[0]
	}
	s, err := parse(n)
	if err != nil {
		return nil, err
	}
	s.text = compact
	return s, nil
}

// extent returns how deep n is nested, and how many of its values may be schemas.
func (n *node) extent() (depth, schemas int) {
	if n.items == nil && n.fields == nil {
		if _, ok := n.v.(bool); ok {
			return 0, 1
		}
		return 0, 0
	}
	if n.fields != nil {
		schemas = 1
	}
	for _, child := range slices.Concat(n.items, slices.Collect(maps.Values(n.fields))) {
		d, s := child.extent()
		depth, schemas = max(depth, d), schemas+s
	}
	return depth + 1, schemas
}

// parse reads a schema whose keywords have values of the right kind.
func parse(n *node) (*Schema, error) {
	s := &Schema{by: map[string]*subschema{}, names: map[string]*subschema{},
		patterns: map[string]pattern{}, effort: effort}
	if draft := n.fields["$schema"]; draft != nil {
		_, name, _ := strings.Cut(strings.TrimSuffix(draft.v.(string), "#"), "://")
		known := false
		if s.draft07, known = drafts[name]; !known {
			return nil, draft.problem("draft %.100q is not understood; 2020-12 and draft-07 are", draft.v)
		}
	}
	var err error
	if s.root, err = s.index(n); err != nil {
		return nil, err
	}
	if err := s.link(); err != nil {
		return nil, err
	}
	return s, nil
}

// JSON returns the schema as it was given, without the white space. The caller
// must not modify it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// index returns the schema that n is, and notes where it and those inside it are.
func (s *Schema) index(n *node) (*subschema, error) {
	t := &subschema{at: n.pointer(), args: n.fields, never: n.v == false,
		subs: map[string][]*subschema{}, named: map[string]map[string]*subschema{}, dependent: map[string]*node{}}
	s.by[t.at] = t
	if err := s.refuse(n); err != nil {
		return nil, err
	}
	if anchor := n.fields["$anchor"]; anchor != nil {
		s.names[anchor.v.(string)] = t
	}
	if id := n.fields["$id"]; id != nil && n.parent != nil {
		s.names[id.v.(string)[1:]] = t
	}
	for _, k := range keywords {
		if want := n.fields[k.name]; want != nil {
			t.rules = append(t.rules, rule{k, want})
		}
	}
	if err := s.compileAll(n); err != nil {
		return nil, err
	}
	for _, key := range n.names {
		arg, as := n.fields[key], s.means(n, key)
		if slices.Contains(withSubs, key) {
			for _, item := range arg.each() {
				inner, err := s.index(item)
				if err != nil {
					return nil, err
				}
				t.subs[as] = append(t.subs[as], inner)
			}
		}
		if as == "dependentRequired" {
			t.dependent = arg.fields
		}
		if !slices.Contains(withNamed, key) {
			continue
		}
		t.named[as] = map[string]*subschema{}
		for _, name := range arg.names {
			item := arg.fields[name]
			if item.items != nil { // of dependencies
				t.dependent[name] = item
				continue
			}
			inner, err := s.index(item)
			if err != nil {
				return nil, err
			}
			t.named[as][name] = inner
		}
	}
	t.patterns = sorted(t.named["patternProperties"])
	t.simple = n.fields["$ref"] == nil && !slices.ContainsFunc(inPlace,
		func(key string) bool { return t.subs[key] != nil })
	s.unevaluated = s.unevaluated || t.subs["unevaluatedItems"] != nil || t.subs["unevaluatedProperties"] != nil
	return t, nil
}

// means returns what draft 2020-12 calls a keyword of n, and a name that it does
// not know for one that means nothing.
func (s *Schema) means(n *node, key string) string {
	if !s.draft07 {
		if key == "dependencies" || key == "additionalItems" {
			return "-" + key
		}
		return key
	}
	tuple := n.fields["items"] != nil && n.fields["items"].items != nil
	switch {
	case key == "items" && tuple:
		return "prefixItems"
	case key == "additionalItems" && tuple:
		return "items"
	case key == "dependencies":
		return "dependentSchemas"
	case slices.Contains([]string{"prefixItems", "additionalItems", "dependentRequired", "dependentSchemas"}, key):
		return "-" + key
	}
	return key
}

// refuse refuses a schema that is not what it seems.
func (s *Schema) refuse(n *node) error {
	wrong := func(key, format string, args ...any) error {
		return (&node{parent: n, key: key}).problem(format, args...)
	}
	has := func(key string) bool { return n.fields[key] != nil }
	switch {
	case has("$dynamicRef") || has("$dynamicAnchor") && n.parent != nil:
		return wrong("$dynamicRef", "is not understood; $ref is")
	case has("$recursiveRef"):
		return wrong("$recursiveRef", "is not understood; $ref is")
	case has("items") && n.fields["items"].items != nil && !s.draft07:
		return wrong("items", "is a list; draft 2020-12 calls that prefixItems")
	case has("$id") && n.parent != nil && !(s.draft07 && strings.HasPrefix(n.fields["$id"].v.(string), "#")):
		return wrong("$id", "is understood only at the top")
	}
	for _, name := range n.names {
		same := func(known string) bool { return strings.EqualFold(known, name) }
		if i := slices.IndexFunc(known(), same); i >= 0 && name != known()[i] {
			return wrong(name, "is no keyword; %s is", known()[i])
		}
	}
	return nil
}

// compileAll notes the patterns of a schema.
func (s *Schema) compileAll(n *node) error {
	var texts [][2]string // with their keywords
	if p := n.fields["pattern"]; p != nil {
		texts = append(texts, [2]string{"pattern", p.v.(string)})
	}
	if p := n.fields["patternProperties"]; p != nil {
		for _, text := range p.names {
			texts = append(texts, [2]string{"patternProperties", text})
		}
	}
	if f := n.fields["format"]; f != nil && shapes[f.v.(string)].pattern != "" {
		texts = append(texts, [2]string{"format", shapes[f.v.(string)].pattern})
	}
	for _, t := range texts {
		if err := s.compile(t[1]); err != nil {
			return (&node{parent: n, key: t[0]}).problem("%v", err)
		}
	}
	return nil
}

// target returns the schema that a reference means, nil if there is none here.
func (s *Schema) target(ref string) *subschema {
	u, err := url.Parse(ref)
	if err != nil {
		return nil
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	if id := s.root.args["$id"]; u.String() != "" &&
		(id == nil || u.String() != strings.TrimSuffix(id.v.(string), "#")) {
		return nil
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return s.by[fragment]
	}
	return s.names[fragment]
}

// link finds what references mean. It refuses those to what is not here, and
// those that lead back to where they stand without a step into the value: nothing
// would ever decide.
func (s *Schema) link() error {
	const open, done = 1, 2
	state := map[*subschema]int{}
	var visit func(t *subschema) error
	visit = func(t *subschema) error {
		switch state[t] {
		case open:
			return &Problem{At: t.at, Message: "refers to itself without end"}
		case done:
			return nil
		}
		state[t] = open
		next := slices.Collect(maps.Values(t.named["dependentSchemas"]))
		for _, key := range inPlace {
			next = append(next, t.subs[key]...)
		}
		if ref := t.args["$ref"]; ref != nil {
			if t.ref = s.target(ref.v.(string)); t.ref == nil {
				return ref.problem("there is no %.200q in this schema, and others are not loaded", ref.v)
			}
			next = append(next, t.ref)
		}
		for _, n := range next {
			if err := visit(n); err != nil {
				return err
			}
		}
		state[t] = done
		return nil
	}
	for _, at := range sorted(s.by) {
		if err := visit(s.by[at]); err != nil {
			return err
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
