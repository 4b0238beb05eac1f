package schema

import (
	"fmt"
	"strings"
	"testing"
)

// doubled returns a schema whose definitions refer to the one below twice, by
// a keyword with a place for both.
func doubled(n int, format, last string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"$ref":"#/$defs/d%d","$defs":{"d0":%s`, n, last)
	for i := 1; i <= n; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i-1)
		fmt.Fprintf(&b, `,"d%d":`+format, i, ref, ref)
	}
	return b.String() + "}}"
}

func nested(open, inside, end string, n int) string {
	return strings.Repeat(open, n) + inside + strings.Repeat(end, n)
}

func many(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return strings.Join(all, ",")
}

// Whatever a schema is, reading it and holding a value to it ends soon.
// Without a bound most of these would take longer than anybody waits.
func TestBombs(t *testing.T) {
	const long = "takes too long to hold to this schema"
	for _, test := range []struct{ name, schema, value, want string }{
		{"references in place", doubled(64, `{"allOf":[%s,%s]}`, `{"type":"string"}`), `"a"`, long},
		{"that do not fit", doubled(64, `{"anyOf":[%s,%s]}`, `{"type":"string"}`), `1`, long},
		{"of one choice", doubled(64, `{"oneOf":[%s,{"not":%s}]}`, `{"type":"string"}`), `1`, long},
		{"into the value", doubled(64, `{"allOf":[{"items":%s},{"items":%s}]}`, `{"type":"string"}`), nested("[", `"a"`, "]", 64), long},
		{"without end", `{"anyOf":[{"type":"null"},{"items":{"$ref":"#"}},{"contains":{"$ref":"#"}}],"minItems":1}`, nested("[", "[]", "]", 200), long},
		{"unevaluated", doubled(64, `{"allOf":[%s,%s],"unevaluatedProperties":false}`, `{"properties":{"a":{}}}`), `{"a":1}`, long},
		{"a long way", doubled(999, `{"allOf":[%s],"not":{"not":%s}}`, `{"type":"string"}`), `"a"`, "/$defs/d67/not: leads through more than 200 schemas for one value"},
		{"as deep as JSON goes", `{"items":{"$ref":"#"}}`, nested("[", "", "]", 9999), "is nested deeper than 500"},
		{"a long way at each step of a deep value", strings.Replace(doubled(500, `{"allOf":[%s],"not":{"not":%s}}`, `{"items":{"$ref":"#"}}`), `"d0":{`, `"d0":{"type":"array",`, 1),
			nested("[", "", "]", 9999), "/$defs/d67/not: leads through more than 200 schemas for one value"},
		{"many schemas for many values", `{"items":{"anyOf":[` + many(3000, `{"const":%d}`) + `]}}`, "[" + many(3000, `%d`) + "]", long},
		{"a long list of what is allowed", `{"items":{"enum":[` + many(4500, `%d`) + `]}}`, "[" + many(4500, `%d`) + "]", long},
		{"a pattern that is long, and so is the text", `{"pattern":"(ab?c?d?e?f?){1000}$"}`, `"` + strings.Repeat("abcdef", 50_000) + `"`, long},
		{"many patterns for many names", `{"patternProperties":{` + many(500, `"a%d":{}`) + `}}`, "{" + many(3000, `"a%d":1`) + "}", long},
		{"what was looked at, level by level", doubled(500, `{"allOf":[%s,%s],"unevaluatedItems":true}`, `{"items":{"$ref":"#"}}`), "[" + many(3000, "[1,%d]") + "]", "/$defs/d100: leads through more than 200 schemas for one value"},
		{"unique items", `{"uniqueItems":true}`, "[" + many(10_000, `{"a":%d}`) + "]", ""},
		{"many values", `{"items":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string","pattern":"^[a-z ]+$"}},"required":["n","s"],"additionalProperties":false}}`,
			"[" + many(4000, `{"n":%d,"s":"some words of a text"}`) + "]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Parse([]byte(test.schema))
			if err != nil {
				if err.Error() != test.want {
					t.Error(err)
				}
				return
			}
			s.effort /= 10 // to end sooner
			_, problems := s.Check(test.value)
			got := ""
			if len(problems) > 0 {
				got = problems[0].Error()
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// What is too large is refused when it is read.
func TestTooLarge(t *testing.T) {
	for schema, want := range map[string]string{
		`{"description":"` + strings.Repeat("a", 1<<20) + `"}`:                                                       "is larger than 1 MiB",
		`{"pattern":"` + nested("(", "[a-z]bcdefghij", "){10}", 3) + strings.Repeat("(abcdefghij){1000}", 30) + `"}`: "/pattern: takes too much, with all the other patterns",
		`{"allOf":[true` + strings.Repeat(",true", maxSchemas) + `]}`:                                                "has more than 5,000 schemas",
		`{"allOf":[` + many(101, `{"$ref":"#/a/b/%d"}`) + `]}`:                                                       "has more than 100 references to other places than $defs",
		nested(`{"not":`, `true`, "}", maxDepth+1):                                                                   "is nested deeper than 100",
		`{"pattern":"(a{1000}){1000}"}`:                                                                              "/pattern: error parsing regexp: invalid repeat count: `{1000}`",
	} {
		if _, err := Parse([]byte(schema)); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", schema, err, want)
		}
	}
	// As many schemas as there is room for, and as deep.
	if _, err := Parse([]byte(`{"allOf":[{}` + strings.Repeat(",{}", maxSchemas-2) + `]}`)); err != nil {
		t.Error(err)
	}
	if _, err := Parse([]byte(nested(`{"not":`, `{"description":"`+strings.Repeat(`\"`, 5000)+`"}`, "}", maxDepth-1))); err != nil {
		t.Error(err)
	}
}
