package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
	v, _, p := read(b, maxNested)
	if p != nil {
		return args, "", told(p)
	}
	if len(s.check(v)) == 0 {
		return args, "", ""
	}
	var f fitter
	fitted = args
	s.within(func() {
		if object, isObject := f.fit(s.root, v, nil).(map[string]any); isObject {
			fitted, v = object, object
		}
	})
	var all []string
	for _, p := range s.check(v) {
		all = append(all, told(p))
	}
	note = strings.Join(f.unknown, ", ")
	if note != "" && len(all) > 0 {
		all = append(all, "unknown: "+note)
	}
	return fitted, note, strings.Join(all, "; ")
}

func told(p *Problem) string { return "params" + p.At + " " + p.Message }

// A fitter makes values fit.
type fitter struct {
	unknown []string // names that were left out, in words
}

// accepts reports whether v fits s.
func accepts(s *jsonschema.Schema, v any) bool { return s.Validate(v) == nil }

// fit returns the value that the one at a place was meant to be.
func (f *fitter) fit(s *jsonschema.Schema, v any, at []string) any {
	if len(at) > deepestFit || accepts(s, v) {
		return v
	}
	s = plain(s)
	list, isList := v.([]any)
	if len(list) == 1 && slices.Equal(types(s), []string{"string"}) && accepts(s, list[0]) {
		return list[0] // one text in a list is the text
	}
	if s.Enum != nil && isPlain(v) {
		for _, one := range s.Enum.Values {
			if isPlain(one) && fmt.Sprint(one) == fmt.Sprint(v) {
				return one // a number as a text, or the other way round
			}
		}
	}
	if meant, ok := converted(s, v); ok {
		v = meant
		list, isList = v.([]any)
	}
	if object, ok := v.(map[string]any); ok {
		return f.object(s, object, at)
	}
	if of := items(s); isList && of != nil {
		list = slices.Clone(list)
		for i, item := range list {
			list[i] = f.fit(of, item, append(at, strconv.Itoa(i)))
		}
		return list
	}
	return v
}

// isPlain reports whether v is neither null nor has values in it.
func isPlain(v any) bool { return !slices.Contains([]string{"null", "array", "object"}, kindOf(v)) }

// items returns the schema of all items of a list, nil if they have none or several.
func items(s *jsonschema.Schema) *jsonschema.Schema {
	if one, ok := s.Items.(*jsonschema.Schema); ok {
		return one
	}
	if len(s.PrefixItems) > 0 {
		return nil
	}
	return s.Items2020
}

// object returns the object that v was meant to be.
func (f *fitter) object(s *jsonschema.Schema, v map[string]any, at []string) any {
	object := map[string]any{}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field, of := v[name], s.Properties[name]
		switch {
		case of != nil && saysNothing(field) && !accepts(of, field) && !slices.Contains(s.Required, name):
		case of != nil:
			object[name] = f.fit(of, field, append(at, name))
		case s.AdditionalProperties == false && !matches(s, name):
			unknown = append(unknown, name)
		default:
			object[name] = field
		}
	}
	f.tellUnknown(s, at, object, unknown)
	return object
}

// matches reports whether a pattern of s takes a name.
func matches(s *jsonschema.Schema, name string) bool {
	for pattern := range s.PatternProperties {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// saysNothing reports whether v is null, or a text that is empty or says null.
func saysNothing(v any) bool {
	text, isText := v.(string)
	return v == nil || isText && slices.Contains([]string{"", "null", "none"}, strings.ToLower(strings.TrimSpace(text)))
}

// tellUnknown notes names that an object does not take, each with the name that was
// probably meant: the one that is lacking, or the nearest.
func (f *fitter) tellUnknown(s *jsonschema.Schema, at []string, object map[string]any, unknown []string) {
	var lacking, free []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if _, there := object[name]; !there {
			free = append(free, name)
			if slices.Contains(s.Required, name) {
				lacking = append(lacking, name)
			}
		}
	}
	for _, name := range unknown {
		words := strings.TrimPrefix(pointer(at)+"/", "/") + text.Shorten(name, 60)
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

// likely returns the name of names that a misspelt name stands for: the nearest in spelling, or
// the only name that contains it or is contained in it; "" if several are as likely.
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

// plain returns the schema that s is another word for: of a reference, and of a choice
// between one schema and null.
func plain(s *jsonschema.Schema) *jsonschema.Schema {
	for range 10 {
		var others []*jsonschema.Schema
		for _, o := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
			if o.Types == nil || len(types(o)) > 0 {
				others = append(others, o)
			}
		}
		switch {
		case s.Types != nil || s.Properties != nil:
			return s
		case s.Ref != nil:
			s = s.Ref
		case len(others) == 1:
			s = others[0]
		default:
			return s
		}
	}
	return s
}

// types returns the types that s asks for, without null.
func types(s *jsonschema.Schema) []string {
	if s.Types != nil {
		return slices.DeleteFunc(s.Types.ToStrings(), func(name string) bool { return name == "null" })
	}
	if s.Properties != nil {
		return []string{"object"}
	}
	return nil
}

// converted returns v as a value of the type that s asks for, if that says the same. It is not
// ok if v has the type, if s takes several types, and if nothing says the same.
func converted(s *jsonschema.Schema, v any) (meant any, ok bool) {
	types := types(s)
	if len(types) != 1 || is(v, types[0]) {
		return nil, false
	}
	switch t := v.(type) {
	case string:
		return fromText(s, types[0], strings.TrimSpace(t), v)
	case float64:
		if types[0] == "string" && t == math.Trunc(t) && math.Abs(t) < safeInteger {
			return strconv.FormatFloat(t, 'f', -1, 64), true
		}
		if types[0] == "boolean" && (t == 0 || t == 1) {
			return t == 1, true
		}
	case bool:
		if types[0] == "string" {
			return strconv.FormatBool(t), true
		}
	}
	return wrapped(s, types[0], v)
}

// fromText returns what a text says as a value of a type.
func fromText(s *jsonschema.Schema, kind, text string, v any) (meant any, ok bool) {
	if kind == "boolean" {
		b, err := strconv.ParseBool(strings.ToLower(text))
		return b, err == nil && len(text) > 1
	}
	said, _, p := read([]byte(text), maxNested)
	if p == nil && is(said, kind) {
		number, isNumber := said.(float64)
		return said, !isNumber || math.Abs(number) < safeInteger
	}
	return wrapped(s, kind, v)
}

// wrapped returns a list of v, where a list of such values is asked for.
func wrapped(s *jsonschema.Schema, kind string, v any) (list any, ok bool) {
	if kind != "array" || items(s) == nil || v == nil {
		return nil, false
	}
	if t, isText := v.(string); isText && (strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{")) {
		return nil, false // it was to be JSON
	}
	of := types(plain(items(s)))
	return []any{v}, len(of) == 1 && is(v, of[0])
}
