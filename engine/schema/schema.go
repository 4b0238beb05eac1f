package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	wording "gemline/engine/text"
)

// A Schema is a valid, compiled schema. It may be used concurrently.
type Schema struct {
	text json.RawMessage
	doc  any
	root *jsonschema.Schema

	mu       sync.Mutex // held while a value is checked: the meters share left
	budget   int        // of the effort; below zero the check has ended
	effort   int
	heaviest int // the maximum work of the library for a value before it calls a meter
}

// How large a schema and a value may be.
const (
	maxText      = 1 << 20  // bytes of a schema
	maxValue     = 64 << 20 // bytes of a value
	maxDepth     = 100      // nested objects and lists in a schema
	maxNested    = 500      // nested objects and lists in a value
	maxSchemas   = 5_000    // objects, and the schemas true and false; the library's time grows with their square
	maxOtherRefs = 100      // references to other places than definitions; for each the library copies all places
)

// location is the address of a schema inside the library.
const location = "schema:///"

// Load parses an argument: a schema, which begins with a brace, or the name of its file.
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

// Parse compiles a schema: an object of draft 2020-12 or of the draft that its
// $schema names. The error names the fault and its place in one line.
func Parse(text []byte) (*Schema, error) {
	if len(text) > maxText {
		return nil, errors.New("is larger than 1 MiB")
	}
	doc, compact, p := read(text, maxDepth)
	if p != nil {
		return nil, p
	}
	top, isObject := doc.(map[string]any)
	if !isObject {
		return nil, errors.New("a schema is an object")
	}
	if inner, wraps := top["schema"].(map[string]any); wraps && top["type"] == nil && top["properties"] == nil && len(inner) > 0 {
		return nil, errors.New(`has the schema under "schema", as some APIs want it; give that schema alone`)
	}
	otherRefs := map[string]bool{}
	switch {
	case schemas(doc, otherRefs) > maxSchemas:
		return nil, errors.New("has more than 5,000 schemas")
	case len(otherRefs) > maxOtherRefs:
		return nil, fmt.Errorf("has more than %d references to other places than $defs", maxOtherRefs)
	}
	s := &Schema{text: compact, doc: doc, effort: effort}
	s.budget = s.effort
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(s.patterns())
	err := c.AddResource(location, doc)
	if err == nil {
		s.root, err = c.Compile(location)
	}
	if err != nil {
		return nil, s.unsound(err)
	}
	if p := s.bound(); p != nil {
		return nil, p
	}
	return s, nil
}

// Ignored lists what probably has another meaning than its author thinks: words of the schema that
// resemble a keyword, and nullable of OpenAPI.
func (s *Schema) Ignored() (list []string) {
	words := strings.Fields("type properties required items enum const title description default anyOf oneOf allOf not format pattern " +
		"minimum maximum minLength maxLength minItems maxItems uniqueItems prefixItems additionalProperties patternProperties definitions " +
		"examples if then else id $id $ref $defs $schema $comment")
	top, _ := s.doc.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if near := wording.Nearest(name, words); near != "" && !slices.Contains(words, name) {
			list = append(list, fmt.Sprintf("%q is no keyword of a schema; did you mean %s?", name, near))
		}
	}
	if bytes.Contains(s.text, []byte(`"nullable":true`)) {
		list = append(list, `nullable has no effect; a schema allows null by "type": ["string", "null"]`)
	}
	return list
}

// noLoader refuses references into other documents. Without it the library reads files.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("only references within a schema, and drafts 04 to 2020-12, are understood")
}

// JSON returns the schema as it was given, without the white space. The caller
// must not modify it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// schemas returns how many values in a document may be schemas, and adds to otherRefs the references to
// other places than top-level definitions.
func schemas(v any, otherRefs map[string]bool) (n int) {
	switch v := v.(type) {
	case bool:
		return 1
	case []any:
		for _, item := range v {
			n += schemas(item, otherRefs)
		}
	case map[string]any:
		n = 1
		if ref, ok := v["$ref"].(string); ok && (strings.Count(ref, "/") != 2 ||
			!strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/")) {
			otherRefs[ref] = true
		}
		for _, field := range v {
			n += schemas(field, otherRefs)
		}
	}
	return n
}

// unsound explains the library's compile error of a schema.
func (s *Schema) unsound(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var violation *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &violation) {
		at := pointerOf(invalid.URL)
		whole, _ := lookup(s.doc, at)
		problems := explain(violation, whole, nil)
		i := max(0, slices.IndexFunc(problems, func(p *Problem) bool { return !strings.HasPrefix(p.Message, nearest) }))
		problems[i].At = pointer(at) + problems[i].At
		return problems[i]
	}
	var regex *jsonschema.InvalidRegexError
	if errors.As(err, &regex) {
		return problem(pointerOf(regex.URL), "%v", regex.Err)
	}
	return &Problem{Message: oneLine(strings.ReplaceAll(err.Error(), location, ""))}
}
