package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"gemline/engine/text"
)

// A Problem is a mismatch between a value and the schema.
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

// problem describes a fault at a place, on one line for people.
func problem(at []string, format string, args ...any) *Problem {
	return &Problem{pointer(at), oneLine(fmt.Sprintf(format, args...))}
}

const longest = 300 // characters of a message

func oneLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return text.Shorten(line, longest)
}

// Check returns the JSON value in text, without white space between its parts and otherwise
// unchanged, or its problems.
func (s *Schema) Check(text string) (json.RawMessage, []*Problem) {
	if len(text) > maxValue {
		return nil, []*Problem{{Message: "is larger than 64 MiB"}}
	}
	v, compact, p := read([]byte(text), maxNested)
	if p != nil {
		return nil, []*Problem{p}
	}
	if problems := s.check(v); len(problems) > 0 {
		return nil, problems
	}
	return compact, nil
}

// check returns the problems of a value.
func (s *Schema) check(v any) (problems []*Problem) {
	var err error
	if size(v)*s.heaviest/10 > s.effort || !s.within(func() { err = s.root.Validate(v) }) {
		return []*Problem{{Message: errTooLong.Error()}}
	}
	if err == nil {
		return nil
	}
	return explain(err.(*jsonschema.ValidationError), v, s.doc)
}

// explain describes the library's errors about v, in the order of places.
func explain(e *jsonschema.ValidationError, v, schema any) (problems []*Problem) {
	for _, f := range (explainer{v, schema}).findings(e) {
		for _, p := range f.problems {
			if !slices.ContainsFunc(problems, func(o *Problem) bool { return *o == *p }) && len(problems) < most {
				problems = append(problems, p)
			}
		}
	}
	return problems
}

// A finding is a group of problems that are reported together.
type finding struct {
	at       []string // the reported place
	problems []*Problem
	alien    bool // the value is of another type
}

// found returns a finding for a place.
func found(at []string, format string, args ...any) finding {
	return finding{at: at, problems: []*Problem{problem(at, format, args...)}}
}

// under returns f, reported at the place at.
func (f finding) under(at []string) finding {
	f.at = at
	return f
}

// An explainer describes errors of the library.
type explainer struct{ value, schema any } // the schema is nil if the value is itself a schema

// nearest begins the message about a value that fits none of several schemas.
const nearest = "fits none of the "

// findings returns the problems in e, in the order of places.
func (x explainer) findings(e *jsonschema.ValidationError) (list []finding) {
	at := e.InstanceLocation
	tell := func(format string, args ...any) { list = append(list, found(at, format, args...)) }
	lacking := func(with string, missing []string) {
		for _, name := range missing {
			tell("has %s and lacks %s", quoted(with), quoted(name))
		}
	}
	here, _ := lookup(x.value, at)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			list = append(list, x.findings(cause)...)
		}
		slices.SortStableFunc(list, func(a, b finding) int {
			return cmp.Or(slices.CompareFunc(a.at, b.at, compareNames), strings.Compare(a.problems[0].Message, b.problems[0].Message))
		})
	case *kind.AnyOf:
		list = x.nearestBranch(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.nearestBranch(e, "oneOf")
		}
		tell("fits 2 schemas of oneOf, and must fit one")
	case *kind.Type:
		slices.Reverse(k.Want) // null is the last
		tell("must be of type %s, not %s", strings.Join(k.Want, " or "), kindOf(here))
		list[0].alien = true
		if x.schema == nil && len(at) > 0 && at[len(at)-1] == "items" && k.Got == "array" {
			list[0].problems[0].Message = "is a list; draft 2020-12 calls that prefixItems"
		}
	case *kind.Enum:
		tell("%s", words(k, here))
		list[0].alien = !slices.ContainsFunc(k.Want, func(v any) bool { return kindOf(v) == kindOf(here) })
	case *kind.Required:
		for _, name := range k.Missing {
			tell("lacks %s", quoted(name))
		}
	case *kind.DependentRequired:
		lacking(k.Prop, k.Missing)
	case *kind.Dependency:
		lacking(k.Prop, k.Missing)
	case *kind.AdditionalProperties:
		for _, name := range slices.Sorted(slices.Values(k.Properties)) { // the library has no order
			list = append(list, found(at, "must not have %s", quoted(name)).under(append(at[:len(at):len(at)], name)))
		}
	case *kind.FalseSchema:
		list = append(list, x.forbidden(pointerOf(e.SchemaURL), at))
	case *kind.PropertyNames:
		list = append(list, x.name(k, e))
	default:
		tell("%s", words(k, here))
	}
	return list
}

// compareNames orders names in a place: the items of a list by their numbers.
func compareNames(a, b string) int {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if digits(a) && digits(b) {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}

// nearestBranch returns the findings of the schema that fits the value best.
func (x explainer) nearestBranch(e *jsonschema.ValidationError, keyword string) []finding {
	at, best, alien := e.InstanceLocation, []finding(nil), false
	for i, cause := range e.Causes {
		list := x.findings(cause)
		other := slices.ContainsFunc(list, func(f finding) bool { return f.alien && len(f.at) == len(at) })
		if i == 0 || alien && !other || alien == other && len(list) < len(best) {
			best, alien = list, other
		}
	}
	f := found(at, nearest+"%d schemas of %s; of the nearest:", len(e.Causes), keyword)
	for _, one := range best {
		f.problems = append(f.problems, one.problems...)
	}
	return []finding{f}
}

// forbidden describes a value for which the schema is false.
func (x explainer) forbidden(schema, at []string) finding {
	if len(at) == 0 || len(schema) == 0 {
		return found(at, "must not be there")
	}
	parent, name := at[:len(at)-1], at[len(at)-1]
	within, keyword := schema[:len(schema)-1:len(schema)-1], schema[len(schema)-1]
	switch {
	case keyword == "unevaluatedProperties" || keyword == "unevaluatedItems":
		return found(parent, "does not fit %s of the schema", quoted(keyword)).under(at)
	case keyword == "items":
		first, _ := lookup(x.schema, append(within, "prefixItems"))
		prefix, _ := first.([]any)
		return found(parent, "must not have more than %d items", len(prefix)).under(at)
	case len(within) > 0 && (within[len(within)-1] == "properties" || within[len(within)-1] == "patternProperties"):
		return found(parent, "must not have %s", quoted(name)).under(at)
	}
	return found(at, "must not be there")
}

// name describes a field whose name does not fit. The library may have overwritten the place that
// it reports, so the place is checked.
func (x explainer) name(k *kind.PropertyNames, e *jsonschema.ValidationError) finding {
	at := slices.Clone(e.InstanceLocation)
	if _, there := lookup(x.value, append(at, k.Property)); !there {
		at = nil
	}
	for _, cause := range e.Causes {
		if f, ok := cause.ErrorKind.(*kind.Format); ok && f.Want == "regex" { // in a schema
			return found(at, "%v", f.Err)
		}
	}
	if at != nil || len(e.InstanceLocation) == 0 {
		at = append(at, k.Property)
	}
	return found(at, `does not fit "propertyNames" of the schema`)
}

// formats has words for formats.
var formats = map[string]string{"date": "a date such as 2026-11-21", "time": "a time such as 16:30:00Z",
	"date-time": "a date and time such as 2026-11-21T16:30:00Z", "duration": "a duration such as PT1H30M",
	"email": "an e-mail address", "hostname": "the name of a host", "ipv4": "an IPv4 address",
	"uri": "a URI with its scheme", "uuid": "a UUID"}

// FormatWords describes a format, such as "date".
func FormatWords(name string) string { return cmp.Or(formats[name], "of the format "+name) }

// words describes the requirement of k for the value here.
func words(k jsonschema.ErrorKind, here any) string {
	number := func(words string, want *big.Rat) string {
		f, _ := want.Float64()
		return "must be " + words + " " + quoted(f) + but(here)
	}
	count := func(words string, want int, of string) string {
		return fmt.Sprintf("must have %s %d %s", words, want, of)
	}
	switch k := k.(type) {
	case *kind.Enum:
		all := ""
		for i := 0; i < len(k.Want) && len(all) < longest; i++ {
			all += ", " + quoted(k.Want[i])
		}
		return "must be one of " + strings.TrimPrefix(all, ", ") + but(here)
	case *kind.Const:
		return "must be " + quoted(k.Want) + but(here)
	case *kind.Minimum:
		return number("at least", k.Want)
	case *kind.Maximum:
		return number("at most", k.Want)
	case *kind.ExclusiveMinimum:
		return number("more than", k.Want)
	case *kind.ExclusiveMaximum:
		return number("less than", k.Want)
	case *kind.MultipleOf:
		return number("a multiple of", k.Want)
	case *kind.MinLength:
		return count("at least", k.Want, "characters")
	case *kind.MaxLength:
		return count("at most", k.Want, "characters")
	case *kind.MinItems:
		return count("at least", k.Want, "items")
	case *kind.MaxItems:
		return count("at most", k.Want, "items")
	case *kind.MinProperties:
		return count("at least", k.Want, "properties")
	case *kind.MaxProperties:
		return count("at most", k.Want, "properties")
	case *kind.AdditionalItems:
		list, _ := here.([]any)
		return fmt.Sprintf("must not have more than %d items", len(list)-k.Count)
	case *kind.UniqueItems:
		return "must not have an item twice"
	case *kind.Pattern:
		return "must match the pattern " + k.Want
	case *kind.Format:
		if k.Want == "regex" { // in a schema
			return k.Err.Error()
		}
		return "must be " + FormatWords(k.Want)
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		return `does not fit "contains" of the schema`
	case *kind.Not:
		return `does not fit "not" of the schema`
	}
	return fmt.Sprintf("does not fit the schema: %T", k)
}

// but describes the actual value, if it is short.
func but(v any) string {
	const most = 60
	if s, _ := v.(string); len(s) > most || size(v) > most {
		return ""
	}
	if s := quoted(v); len(s) <= most {
		return ", not " + s
	}
	return ""
}
