package schema

import (
	"fmt"
	"math"
	"strings"

	lib "github.com/google/jsonschema-go/jsonschema"
)

// A keyword is one that speaks of a value without other schemas.
type keyword struct {
	name  string
	alone func(s *lib.Schema) *lib.Schema // s with nothing else; nil if s has none
	say   func(s *lib.Schema, v any) string
}

// keywords has those that there are words for, in the order in which they are
// told.
var keywords = []keyword{
	{"type", func(s *lib.Schema) *lib.Schema {
		return have(s.Type != "" || s.Types != nil, &lib.Schema{Type: s.Type, Types: s.Types})
	}, func(s *lib.Schema, v any) string {
		wanted := append(s.Types[:len(s.Types):len(s.Types)], s.Type)
		if s.Type == "" {
			wanted = s.Types
		}
		return fmt.Sprintf("must be of type %s, not %s", strings.Join(wanted, " or "), kind(v))
	}},
	{"enum", func(s *lib.Schema) *lib.Schema { return have(s.Enum != nil, &lib.Schema{Enum: s.Enum}) },
		func(s *lib.Schema, v any) string {
			all := make([]string, len(s.Enum))
			for i, e := range s.Enum {
				all[i] = quoted(e)
			}
			return "must be one of " + strings.Join(all, ", ") + but(v)
		}},
	{"const", func(s *lib.Schema) *lib.Schema { return have(s.Const != nil, &lib.Schema{Const: s.Const}) },
		func(s *lib.Schema, v any) string { return "must be " + quoted(*s.Const) + but(v) }},
	{"minimum", func(s *lib.Schema) *lib.Schema { return have(s.Minimum != nil, &lib.Schema{Minimum: s.Minimum}) },
		func(s *lib.Schema, v any) string { return "must be at least " + quoted(*s.Minimum) + but(v) }},
	{"maximum", func(s *lib.Schema) *lib.Schema { return have(s.Maximum != nil, &lib.Schema{Maximum: s.Maximum}) },
		func(s *lib.Schema, v any) string { return "must be at most " + quoted(*s.Maximum) + but(v) }},
	{"exclusiveMinimum", func(s *lib.Schema) *lib.Schema {
		return have(s.ExclusiveMinimum != nil, &lib.Schema{ExclusiveMinimum: s.ExclusiveMinimum})
	}, func(s *lib.Schema, v any) string { return "must be more than " + quoted(*s.ExclusiveMinimum) + but(v) }},
	{"exclusiveMaximum", func(s *lib.Schema) *lib.Schema {
		return have(s.ExclusiveMaximum != nil, &lib.Schema{ExclusiveMaximum: s.ExclusiveMaximum})
	}, func(s *lib.Schema, v any) string { return "must be less than " + quoted(*s.ExclusiveMaximum) + but(v) }},
	{"multipleOf", func(s *lib.Schema) *lib.Schema {
		return have(s.MultipleOf != nil, &lib.Schema{MultipleOf: s.MultipleOf})
	},
		func(s *lib.Schema, v any) string { return "must be a multiple of " + quoted(*s.MultipleOf) + but(v) }},
	{"minLength", func(s *lib.Schema) *lib.Schema { return have(s.MinLength != nil, &lib.Schema{MinLength: s.MinLength}) },
		func(s *lib.Schema, v any) string {
			return fmt.Sprintf("must have at least %d characters", *s.MinLength)
		}},
	{"maxLength", func(s *lib.Schema) *lib.Schema { return have(s.MaxLength != nil, &lib.Schema{MaxLength: s.MaxLength}) },
		func(s *lib.Schema, v any) string { return fmt.Sprintf("must have at most %d characters", *s.MaxLength) }},
	{"pattern", func(s *lib.Schema) *lib.Schema { return have(s.Pattern != "", &lib.Schema{Pattern: s.Pattern}) },
		func(s *lib.Schema, v any) string { return "must match the pattern " + s.Pattern }},
	{"minItems", func(s *lib.Schema) *lib.Schema { return have(s.MinItems != nil, &lib.Schema{MinItems: s.MinItems}) },
		func(s *lib.Schema, v any) string { return fmt.Sprintf("must have at least %d items", *s.MinItems) }},
	{"maxItems", func(s *lib.Schema) *lib.Schema { return have(s.MaxItems != nil, &lib.Schema{MaxItems: s.MaxItems}) },
		func(s *lib.Schema, v any) string { return fmt.Sprintf("must have at most %d items", *s.MaxItems) }},
	{"uniqueItems", func(s *lib.Schema) *lib.Schema { return have(s.UniqueItems, &lib.Schema{UniqueItems: true}) },
		func(s *lib.Schema, v any) string { return "must not have an item twice" }},
	{"minProperties", func(s *lib.Schema) *lib.Schema {
		return have(s.MinProperties != nil, &lib.Schema{MinProperties: s.MinProperties})
	}, func(s *lib.Schema, v any) string {
		return fmt.Sprintf("must have at least %d properties", *s.MinProperties)
	}},
	{"maxProperties", func(s *lib.Schema) *lib.Schema {
		return have(s.MaxProperties != nil, &lib.Schema{MaxProperties: s.MaxProperties})
	}, func(s *lib.Schema, v any) string {
		return fmt.Sprintf("must have at most %d properties", *s.MaxProperties)
	}},
}

func have(has bool, s *lib.Schema) *lib.Schema {
	if !has {
		return nil
	}
	return s
}

// but says what v is instead, if that is short.
func but(v any) string {
	const most = 60
	if s := quoted(v); len(s) <= most {
		return ", not " + s
	}
	return ""
}

// kind names the type of v.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
