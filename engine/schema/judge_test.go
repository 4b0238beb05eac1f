package schema

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft07   = "http://json-schema.org/draft-07/schema#"
)

// A dice makes schemas and values, of few names and types, so that they meet.
type dice struct{ *rand.Rand }

func (d dice) of(texts ...string) string { return texts[d.IntN(len(texts))] }

func (d dice) value(deep int) string {
	if deep == 0 || d.IntN(3) == 0 {
		return d.of(`null`, `true`, `0`, `-0.0`, `1`, `1.0`, `2.5`, `""`, `"a"`, `"ab"`, `[]`, `{}`)
	}
	var parts []string
	if d.IntN(2) == 0 {
		for range d.IntN(4) {
			parts = append(parts, d.value(deep-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for _, name := range []string{"a", "b", "ab"} {
		if d.IntN(2) == 0 {
			parts = append(parts, `"`+name+`":`+d.value(deep-1))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// schema makes a schema. References lead into values only, to the whole.
func (d dice) schema(draft string, deep int) string {
	if d.IntN(8) == 0 {
		return d.of("true", "false")
	}
	sub := func() string { return d.schema(draft, deep-1) }
	subs := func() string { return "[" + sub() + "," + sub() + "]" }
	alone := []func() string{
		func() string {
			return `"type":"` + d.of("null", "boolean", "integer", "number", "string", "array", "object") + `"`
		},
		func() string { return `"type":["integer","array"]` },
		func() string { return `"enum":[` + d.value(2) + `]` },
		func() string { return `"const":` + d.value(2) },
		func() string {
			return d.of(`"minimum":1`, `"maximum":1`, `"exclusiveMinimum":0`, `"exclusiveMaximum":1`, `"multipleOf":0.5`)
		},
		func() string { return d.of(`"minLength":1`, `"maxLength":1`, `"pattern":"^a"`, `"pattern":"b"`) },
		func() string { return d.of(`"minItems":1`, `"maxItems":1`, `"uniqueItems":true`) },
		func() string { return d.of(`"minProperties":1`, `"maxProperties":1`, `"required":["a"]`) },
	}
	more := []func() string{
		func() string { return `"allOf":` + subs() }, func() string { return `"anyOf":` + subs() }, func() string { return `"oneOf":` + subs() },
		func() string { return `"not":` + sub() },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
		func() string { return `"properties":{"a":` + sub() + `,"b":` + d.of(sub(), `{"$ref":"#"}`) + `}` },
		func() string { return `"patternProperties":{"b":` + sub() + `}` },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"propertyNames":` + sub() },
		func() string { return `"contains":` + sub() },
		func() string { return `"items":` + d.of(sub(), `{"$ref":"#"}`) },
	}
	if draft == draft07 {
		more = append(more, func() string { return `"items":` + subs() + `,"additionalItems":` + sub() },
			func() string { return `"dependencies":{"a":` + d.of(`["b"]`, sub()) + `}` })
	} else {
		more = append(more, func() string { return `"prefixItems":` + subs() },
			func() string {
				return `"contains":` + sub() + d.of(`,"minContains":0`, `,"minContains":2`, `,"maxContains":1`)
			},
			func() string { return `"dependentRequired":{"a":["b"]}` }, func() string { return `"dependentSchemas":{"a":` + sub() + `}` },
			func() string { return `"unevaluatedProperties":` + sub() }, func() string { return `"unevaluatedItems":` + sub() })
	}
	if deep > 0 {
		alone = append(alone, more...)
	}
	parts := map[string]string{}
	for range 1 + d.IntN(3) {
		text := alone[d.IntN(len(alone))]()
		name, _, _ := strings.Cut(text, ":")
		parts[name] = text
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, parts[name])
	}
	return "{" + strings.Join(all, ",") + "}"
}

// What fits is what another library says, of whatever the dice make.
func TestAgree(t *testing.T) {
	fit, not := 0, 0
	for seed := uint64(0); seed < 200; seed++ {
		d := dice{rand.New(rand.NewPCG(seed, 7))}
		draft := d.of(draft2020, draft07)
		text := d.schema(draft, 2)
		if text[0] != '{' {
			continue
		}
		text = fmt.Sprintf(`{"$schema":%q,`, draft) + text[1:]
		s, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, text, err)
		}
		theirs, err := understood(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			value := d.value(3)
			_, problems := s.Check(value)
			if got, want := len(problems) == 0, agrees(t, theirs, value); got != want {
				t.Errorf("seed %d: %s of %s: %v; the other library says %v", seed, text, value, problems, want)
			}
			if len(problems) == 0 {
				fit++
			} else {
				not++
			}
		}
	}
	if fit < 100 || not < 100 {
		t.Errorf("%d fit and %d don't: that shows little", fit, not)
	}
}
