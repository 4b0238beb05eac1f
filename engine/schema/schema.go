package schema

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	lib "github.com/google/jsonschema-go/jsonschema"
)

// A Schema is one that was read and is sound. It may be used concurrently.
type Schema struct {
	text     json.RawMessage
	root     *lib.Schema
	at       map[*lib.Schema]string // JSON pointers
	by       map[string]*lib.Schema // by JSON pointer
	names    map[string]*lib.Schema // by anchor
	patterns map[string]pattern
	size     int  // of all patterns
	effort   int  // of a judge
	asked    bool // there are keywords about what was not looked at
}

// The drafts that are understood, as $schema names them. Draft-06 differs from
// draft-07 only in what it lacks.
var drafts = map[string]string{
	"":                                     draft2020,
	"json-schema.org/draft/2020-12/schema": draft2020,
	"json-schema.org/draft-07/schema":      draft07,
	"json-schema.org/draft-06/schema":      draft07,
}

const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft07   = "http://json-schema.org/draft-07/schema#"
)

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
	maxPattern = 200_000 // steps of the programs of all its patterns
)

var (
	errLarge = errors.New("is larger than 1 MiB")
	errDeep  = fmt.Errorf("is nested deeper than %d", maxDepth)
	errMany  = errors.New("has more than 20,000 schemas")
)

// bounds refuses a text of JSON that takes long to read for what it is.
func bounds(text []byte) error {
	depth, schemas := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if c := text[i]; c == '{' || c == 't' || c == 'f' { // of true and of false
			schemas++
		}
		if depth > maxDepth {
			return errDeep
		}
		if schemas > maxSchemas {
			return errMany
		}
	}
	return nil
}

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
		return nil, errLarge
	}
	if p := sound(text); p != nil {
		return nil, p
	}
	if b := bytes.TrimSpace(text); b[0] != '{' {
		return nil, errors.New("a schema is an object")
	}
	if err := bounds(text); err != nil {
		return nil, err
	}
	m, err := parse(meta)
	if err != nil {
		panic(err) // a mistake in meta.json
	}
	if _, problems := m.Check(string(text)); len(problems) > 0 {
		return nil, problems[0]
	}
	return parse(text)
}

// parse reads a schema whose keywords have values of the right kind.
func parse(text []byte) (*Schema, error) {
	s := &Schema{root: &lib.Schema{}, at: map[*lib.Schema]string{}, by: map[string]*lib.Schema{}, names: map[string]*lib.Schema{}, patterns: map[string]pattern{}, effort: effort}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	s.text = compact.Bytes()
	if err := json.Unmarshal(text, s.root); err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(s.root.Schema, "#"), "://")
	draft, known := drafts[name]
	if !known {
		return nil, &Problem{At: "/$schema", Message: fmt.Sprintf("draft %.100q is not understood; 2020-12 and draft-07 are", s.root.Schema)}
	}
	s.root.Schema = draft
	if err := s.index(s.root, ""); err != nil {
		return nil, err
	}
	if err := s.bounded(); err != nil {
		return nil, err
	}
	for sub := range s.at {
		s.lower(sub)
	}
	return s, nil
}

// JSON returns the schema as it was given, without the white space. The caller
// must not modify it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// index notes where every schema below sub is, and refuses what the library
// would take in another way than it is meant.
func (s *Schema) index(sub *lib.Schema, at string) error {
	s.at[sub], s.by[at] = at, sub
	wrong := func(keyword, format string, args ...any) error {
		return &Problem{At: at + "/" + keyword, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case sub.DynamicRef != "" || sub.DynamicAnchor != "" && sub != s.root:
		return wrong("$dynamicRef", "is not understood; $ref is")
	case sub.Extra["$recursiveRef"] != nil:
		return wrong("$recursiveRef", "is not understood; $ref is")
	case sub.Defs != nil && sub.Definitions != nil:
		return wrong("definitions", "stands beside $defs; use one of them")
	case sub.ItemsArray != nil && s.root.Schema == draft2020:
		return wrong("items", "is a list; draft 2020-12 calls that prefixItems")
	case sub.ID != "" && sub != s.root && !(strings.HasPrefix(sub.ID, "#") && s.root.Schema == draft07):
		return wrong("$id", "is understood only at the top")
	}
	for _, name := range sorted(sub.Extra) { // what the library took for a keyword is among these, too
		if k := slices.IndexFunc(names(), func(k string) bool { return strings.EqualFold(k, name) }); k >= 0 {
			return wrong(token(name), "is no keyword; %s is", names()[k])
		}
	}
	if err := s.compile(sub.Pattern); err != nil {
		return wrong("pattern", "%v", err)
	}
	for _, pattern := range sorted(sub.PatternProperties) {
		if err := s.compile(pattern); err != nil {
			return wrong("patternProperties", "%v", err)
		}
	}
	s.asked = s.asked || sub.UnevaluatedItems != nil || sub.UnevaluatedProperties != nil
	if anchor := sub.Anchor; anchor != "" {
		s.names[anchor] = sub
	}
	if sub != s.root && sub.ID != "" {
		s.names[sub.ID[1:]] = sub
	}
	for _, c := range children(sub) {
		if c.schema == nil { // null is what the schema of schemas refuses
			return wrong(c.key, "is no schema")
		}
		if err := s.index(c.schema, at+"/"+c.key); err != nil {
			return err
		}
	}
	return nil
}

// names returns the keywords that the library reads, in any mix of large and
// small letters.
var names = sync.OnceValue(func() []string {
	all := []string{"type", "items", "dependencies"}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[lib.Schema]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all = append(all, name)
		}
	}
	return all
})

// target returns the schema that a reference means, nil if there is none here.
func (s *Schema) target(ref string) *lib.Schema {
	u, err := url.Parse(ref)
	if err != nil {
		return nil
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	if base := u.String(); base != "" && base != strings.TrimSuffix(s.root.ID, "#") {
		return nil
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return s.by[fragment]
	}
	return s.names[fragment]
}

// bounded refuses references to what is not here, and those that lead back to
// where they stand without a step into the value: nothing would ever decide.
func (s *Schema) bounded() error {
	const open, done = 1, 2
	state := map[*lib.Schema]int{}
	var visit func(sub *lib.Schema) error
	visit = func(sub *lib.Schema) error {
		switch state[sub] {
		case open:
			return &Problem{At: s.at[sub], Message: "refers to itself without end"}
		case done:
			return nil
		}
		state[sub] = open
		next := inPlace(sub)
		if sub.Ref != "" {
			to := s.target(sub.Ref)
			if to == nil {
				return &Problem{At: s.at[sub] + "/$ref", Message: fmt.Sprintf("there is no %.200q in this schema, and others are not loaded", sub.Ref)}
			}
			next = append(next, to)
		}
		for _, n := range next {
			if err := visit(n); err != nil {
				return err
			}
		}
		state[sub] = done
		return nil
	}
	for _, at := range sorted(s.by) {
		if err := visit(s.by[at]); err != nil {
			return err
		}
	}
	return nil
}

// oneLine returns the first line of s, cut to what a person reads.
func oneLine(s string) string {
	const most = 300
	s, _, _ = strings.Cut(s, "\n")
	for len(s) > most {
		_, n := utf8.DecodeLastRuneInString(s[:most])
		return s[:most-n] + "..."
	}
	return s
}
