package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gemline/engine/lists"
	"gemline/engine/text"
)

// deepestFit is the depth up to which arguments are corrected.
const deepestFit = 20

// Fit corrects the arguments of a call where their meaning is clear. It converts values of
// another type, such as "1" for an integer, and drops null for optional values and names that the
// schema forbids, which note lists. The problem lists on one line everything that still does not
// fit, with unknown names; it is "" if the rest fits. Args are not changed.
func (s *Schema) Fit(args map[string]any) (fitted map[string]any, note, problem string) {
	if args == nil {
		args = map[string]any{}
	}
	b, _ := json.Marshal(args) // no error, since they were JSON
	v, _, p := read(b, maxNested)
	if p != nil {
		return args, "", problemText(p)
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
	all := lists.Map(s.check(v), problemText)
	note = strings.Join(f.unknown, ", ")
	if note != "" && len(all) > 0 {
		all = append(all, "unknown: "+note)
	}
	return fitted, note, strings.Join(all, "; ")
}

func problemText(p *Problem) string { return "params" + p.At + " " + p.Message }

// A fitter makes values fit.
type fitter struct {
	unknown []string // messages about dropped names
}

// accepts reports whether v fits s.
func accepts(s *jsonschema.Schema, v any) bool { return s.Validate(v) == nil }

// fit returns the corrected value at a place.
func (f *fitter) fit(s *jsonschema.Schema, v any, at []string) any {
	if len(at) > deepestFit || accepts(s, v) {
		return v
	}
	s = plain(s)
	if s.Enum != nil && isPlain(v) {
		for _, one := range s.Enum.Values {
			if isPlain(one) && fmt.Sprint(one) == fmt.Sprint(v) {
				return one // a number as a text, or vice versa
			}
		}
	}
	switch v = converted(s, v); t := v.(type) {
	case map[string]any:
		return f.object(s, t, at)
	case []any:
		if of := items(s); of != nil {
			list := slices.Clone(t)
			for i, item := range t {
				list[i] = f.fit(of, item, append(at, strconv.Itoa(i)))
			}
			return list
		}
	}
	return v
}

// isPlain reports whether v is a string, a number or a boolean.
func isPlain(v any) bool { return !slices.Contains([]string{"null", "array", "object"}, kindOf(v)) }

// items returns the common schema of the items of a list, nil if there is none.
func items(s *jsonschema.Schema) *jsonschema.Schema {
	if one, ok := s.Items.(*jsonschema.Schema); ok {
		return one
	}
	if len(s.PrefixItems) > 0 {
		return nil
	}
	return s.Items2020
}

// object returns the corrected object v.
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

// matches reports whether a pattern of s matches a name.
func matches(s *jsonschema.Schema, name string) bool {
	for pattern := range s.PatternProperties {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// saysNothing reports whether v is null, "" or the text null.
func saysNothing(v any) bool {
	text, isText := v.(string)
	return v == nil || isText && slices.Contains([]string{"", "null", "none"}, strings.ToLower(strings.TrimSpace(text)))
}

// tellUnknown records the unknown names in an object, each with the probable name: the only
// missing name, or the most similar.
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
	only := ""
	if len(lacking) == 1 && len(unknown) == 1 {
		only = lacking[0]
	}
	for _, name := range unknown[:min(len(unknown), most-len(f.unknown))] {
		words := quoted(strings.TrimPrefix(pointer(at)+"/", "/") + text.Shorten(name, 60))
		if meant := cmp.Or(likely(name, lacking), only, likely(name, free)); meant != "" {
			words += " (did you mean " + quoted(meant) + "?)"
		}
		f.unknown = append(f.unknown, words)
	}
}

// likely returns the correction of a misspelt name in names: the only name that contains it or is
// contained in it, or the most similar; "" if several are as likely.
func likely(name string, names []string) string {
	bare := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	var akin []string
	for _, n := range names {
		switch a, b := bare(name), bare(n); {
		case a == b:
			return n
		case strings.Contains(a, b) || len(a) >= 3 && strings.Contains(b, a):
			akin = append(akin, n)
		}
	}
	switch {
	case len(akin) == 1:
		return akin[0]
	case len(akin) == 0 && len(name) < 3:
		return ""
	}
	return text.Nearest(name, names)
}

// plain resolves s, if it is a reference or a choice between a schema and null.
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

// types returns the types that s allows, without null.
func types(s *jsonschema.Schema) []string {
	if s.Types != nil {
		return slices.DeleteFunc(s.Types.ToStrings(), func(name string) bool { return name == "null" })
	}
	if s.Properties != nil {
		return []string{"object"}
	}
	return nil
}

// converted returns v converted to the only type that s allows, or v if it has that type or no
// conversion fits.
func converted(s *jsonschema.Schema, v any) any {
	types := types(s)
	if len(types) != 1 || is(v, types[0]) {
		return v
	}
	for _, form := range forms(s, v) {
		if is(form, types[0]) {
			return form
		}
	}
	return v
}

// forms returns the values of other types that v may represent.
func forms(s *jsonschema.Schema, v any) (forms []any) {
	switch t := v.(type) {
	case string:
		t = strings.TrimSpace(t)
		said, _, p := read([]byte(t), maxNested)
		if p == nil {
			forms = append(forms, said)
		}
		if b, err := strconv.ParseBool(strings.ToLower(t)); err == nil && len(t) > 1 {
			forms = append(forms, b)
		}
	case float64:
		if t == math.Trunc(t) && math.Abs(t) < 1e21 { // JSON writes larger numbers with an exponent
			forms = append(forms, strconv.FormatFloat(t, 'f', -1, 64))
		}
		if t == 0 || t == 1 {
			forms = append(forms, t == 1)
		}
	case json.Number:
		forms = append(forms, t.String())
	case bool:
		forms = append(forms, strconv.FormatBool(t))
	case []any:
		if len(t) == 1 && kindOf(t[0]) == "string" && accepts(s, t[0]) {
			return t // the text in it
		}
	}
	if t, _ := v.(string); items(s) == nil || strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{") {
		return forms // no list, or a text meant as JSON
	}
	if of := types(plain(items(s))); len(of) == 1 && is(v, of[0]) {
		forms = append(forms, []any{v})
	}
	return forms
}
