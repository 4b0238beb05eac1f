package schema

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// What a schema means is the library's to say. Each of these is also put to
// another library, which must say the same.
var meanings = []struct {
	schema   string
	fit, not []string
}{
	{`{}`, []string{`null`, `{"a":1}`}, nil},
	{`{"type":"integer"}`, []string{`3`, `3.0`, `-1`, `1e2`}, []string{`3.5`, `"3"`, `null`, `true`}},
	{`{"type":["string","null"]}`, []string{`""`, `null`}, []string{`0`, `[]`}},
	{`{"enum":["a",1,null,{"b":[2]}]}`, []string{`"a"`, `1`, `1.0`, `null`, `{"b":[2]}`}, []string{`"b"`, `{"b":[]}`, `false`}},
	{`{"const":{"a":1}}`, []string{`{"a":1}`, `{"a":1.0}`}, []string{`{"a":2}`, `{}`, `null`}},
	{`{"const":null}`, []string{`null`}, []string{`0`, `""`}},
	{`{"minimum":1,"exclusiveMaximum":2}`, []string{`1`, `1.5`, `"x"`}, []string{`0.9`, `2`}},
	{`{"multipleOf":0.5}`, []string{`1.5`, `-2`}, []string{`0.3`}},
	{`{"minLength":2,"maxLength":3}`, []string{`"äö"`, `"abc"`, `7`}, []string{`"ä"`, `"abcd"`}},
	{`{"pattern":"^a+$"}`, []string{`"aa"`, `1`}, []string{`"ab"`, `""`}},
	{`{"pattern":"b"}`, []string{`"abc"`}, []string{`"ac"`}},
	{`{"required":["a"],"properties":{"a":{"type":"string"}}}`, []string{`{"a":"x"}`, `{"a":"x","b":1}`, `[]`}, []string{`{}`, `{"a":1}`}},
	{`{"properties":{"a":{}},"additionalProperties":false}`, []string{`{}`, `{"a":1}`}, []string{`{"b":1}`}},
	{`{"properties":{"a":{}},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"string"}}`, []string{`{"a":1,"x":null,"b":""}`}, []string{`{"b":1}`, `{"x":1}`}},
	{`{"propertyNames":{"maxLength":1},"minProperties":1,"maxProperties":2}`, []string{`{"a":1}`}, []string{`{}`, `{"ab":1}`, `{"a":1,"b":1,"c":1}`}},
	{`{"dependentRequired":{"a":["b"]}}`, []string{`{"b":1}`, `{"a":1,"b":1}`}, []string{`{"a":1}`}},
	{`{"dependentSchemas":{"a":{"required":["b"]}}}`, []string{`{}`, `{"a":1,"b":1}`}, []string{`{"a":1}`}},
	{`{"items":{"type":"integer"},"minItems":1,"maxItems":2,"uniqueItems":true}`, []string{`[1]`, `[1,2]`}, []string{`[]`, `[1,1]`, `[1,2,3]`, `["a"]`}},
	{`{"prefixItems":[{"type":"string"}],"items":false}`, []string{`[]`, `["a"]`}, []string{`[1]`, `["a",1]`}},
	{`{"contains":{"type":"integer"},"minContains":2}`, []string{`[1,"a",2]`}, []string{`[1]`, `[]`}},
	{`{"anyOf":[{"type":"string"},{"minimum":3,"type":"number"}]}`, []string{`"a"`, `4`}, []string{`2`, `null`}},
	{`{"oneOf":[{"type":"integer"},{"minimum":3}]}`, []string{`1`, `3.5`}, []string{`4`, `2.5`}},
	{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, []string{`{"a":1,"b":1}`}, []string{`{"a":1}`}},
	{`{"not":{"type":"null"}}`, []string{`1`}, []string{`null`}},
	{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, []string{`{"a":1,"b":1}`, `{"c":1}`}, []string{`{"a":1}`, `{}`}},
	{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}},"minLength":2}`, []string{`"ab"`}, []string{`1`, `"a"`}},
	{`{"$ref":"#node","$defs":{"n":{"$anchor":"node","properties":{"next":{"$ref":"#node"}},"required":["v"]}}}`, []string{`{"v":1,"next":{"v":2}}`}, []string{`{"v":1,"next":{}}`}},
	{`{"properties":{"a/b~c %41":{"type":"string"},"r":{"$ref":"#/properties/a~1b~0c%20%2541"}}}`, []string{`{"r":"x"}`}, []string{`{"r":1}`, `{"a/b~c %41":1}`}},
	{`{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`, []string{`{"children":[{"children":[]}]}`}, []string{`{"children":[{"children":[1]}]}`}},
	{`{"allOf":[{"properties":{"a":{}}}],"properties":{"b":{}},"unevaluatedProperties":false}`, []string{`{"a":1,"b":2}`}, []string{`{"c":1}`}},
	{`{"prefixItems":[{}],"unevaluatedItems":{"type":"string"}}`, []string{`[1,"a"]`}, []string{`[1,2]`}},
	{`{"$id":"https://example.com/a","$ref":"#/$defs/x","$defs":{"x":{"$ref":"https://example.com/a#/$defs/y"},"y":{"type":"null"}}}`, []string{`null`}, []string{`1`}},
	{`{"$id":"https://example.com/a","$ref":"b","$defs":{"x":{"$id":"b","type":"null"}}}`, []string{`null`}, []string{`1`}},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/x","minLength":9}}}`, []string{`{"a":"b"}`}, []string{`{"a":1}`}},
	{`{"$schema":"http://json-schema.org/draft-07/schema","items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, []string{`["a",null]`}, []string{`["a","b"]`, `[1]`}},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, []string{`{"b":1}`, `{"c":1,"d":1}`}, []string{`{"a":1}`, `{"c":1}`}},
	{`{"$schema":"https://json-schema.org/draft/2020-12/schema","definitions":{"x":{"type":"string"}},"$ref":"#/definitions/x"}`, []string{`"a"`}, []string{`1`}},
	{`{"format":"date"}`, []string{`"2026-11-21"`, `5`}, []string{`"21.11.2026"`, `"2026-13-01"`, `""`}},
	{`{"format":"date-time"}`, []string{`"2026-11-21T16:30:00Z"`, `"2026-11-21t16:30:00.25+01:00"`}, []string{`"2026-11-21"`, `"2026-11-21T16:30:00"`, `"2026-11-21T25:30:00Z"`}},
	{`{"format":"time"}`, []string{`"16:30:00Z"`}, []string{`"16:30"`, `"noon"`}},
	{`{"format":"email"}`, []string{`"a@example.com"`}, []string{`"a"`, `"a b"`}},
	{`{"format":"ipv4"}`, []string{`"127.0.0.1"`}, []string{`"256.0.0.1"`, `"1.2.3"`}},
	{`{"format":"uuid"}`, []string{`"2eb8aa08-aa98-11ea-b4aa-73b441d16380"`}, []string{`"2eb8aa08"`}},
	{`{"format":"uri"}`, []string{`"https://example.com/a?b#c"`, `"mailto:a@example.com"`}, []string{`"a b"`, `"/path"`}},
	{`{"format":"hostname"}`, []string{`"a-b.example.com"`}, []string{`"-a.example.com"`, `"a..b"`}},
	{`{"format":"what nobody knows","type":"string"}`, []string{`"a"`}, []string{`1`}},
	{`{"anyOf":[{"format":"date"},{"const":"never"}]}`, []string{`"2026-11-21"`, `"never"`}, []string{`"soon"`}},
}

func TestMeaning(t *testing.T) {
	for _, m := range meanings {
		s, err := Parse([]byte(m.schema))
		if err != nil {
			t.Errorf("%s: %v", m.schema, err)
			continue
		}
		other, err := understood(strings.Replace(m.schema, `draft-07/schema"`, `draft-07/schema#"`, 1))
		if err != nil {
			t.Errorf("%s: %v", m.schema, err)
			continue
		}
		for i, v := range append(m.fit[:len(m.fit):len(m.fit)], m.not...) {
			got, problems := s.Check(v)
			if want := i < len(m.fit); (problems == nil) != want {
				t.Errorf("%s says of %s: %v", m.schema, v, problems)
			} else if want && string(got) != v {
				t.Errorf("%s gives %s for %s", m.schema, got, v)
			} else if !strings.Contains(m.schema, `"format"`) && agrees(t, other, v) != want {
				t.Errorf("%s of %s: the other library says otherwise", m.schema, v)
			}
		}
	}
}

// understood returns a schema as another library reads it.
func understood(text string) (*jsonschema.Resolved, error) {
	var root jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return nil, err
	}
	return root.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		return nil, fmt.Errorf("not loaded: %s", u)
	}})
}

// TestWords shows what a model is told, all of it at once.
func TestWords(t *testing.T) {
	const order = `{"type":"object","required":["id","lines"],"additionalProperties":false,"properties":{
		"id":{"type":"string","pattern":"^A"},"day":{"format":"date"},"paid":{"const":true},
		"lines":{"type":"array","minItems":1,"items":{"$ref":"#/$defs/line"}}},
		"$defs":{"line":{"anyOf":[{"type":"string"},{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}]}}}`
	tests := []struct{ schema, value, want string }{
		{order, `{"id":"B1","day":"soon","paid":false,"lines":[],"x":1}`, `/day: must be a date such as 2026-11-21
/id: must match the pattern ^A
/lines: must have at least 1 items
/paid: must be true, not false
must not have "x"`},
		{order, `{"lines":[true,{"n":0},{"n":"two"},"three"]}`, `lacks "id"
/lines/0: fits none of the 2 schemas of anyOf; of the nearest:
/lines/0: must be of type string, not boolean
/lines/1: fits none of the 2 schemas of anyOf; of the nearest:
/lines/1/n: must be at least 1, not 0
/lines/2: fits none of the 2 schemas of anyOf; of the nearest:
/lines/2/n: must be of type integer, not string`},
		{order, `[]`, `must be of type object, not array`},
		{order, ``, `is empty, and no JSON`},
		{order, "{\n  \"id\": }", `is not JSON: invalid character '}' looking for beginning of value (line 2, column 9)`},
		{order, `{"id":"A"} and more`, `is not JSON: invalid character 'a' after top-level value (line 1, column 12)`},
		{order, `{"id":"A","lines":[{"n":1,"n":2}]}`, `/lines/0/n: stands there twice`},
		{`{}`, `{"a":{},"b":[{"a":1},{"a":2,"a":3}],"c":{}}`, `/b/1/a: stands there twice`},
		{`{}`, "\"\xff\"", `is not valid UTF-8`},
		{`{}`, `1e999`, `is a number that is too large`},
		{`{"type":["string","null"],"minLength":1}`, `3.5`, `must be of type string or null, not number`},
		{`{"oneOf":[{"type":"integer"},{"minimum":3}]}`, `4`, `fits 2 schemas of oneOf, and must fit one`},
		{`{"not":{"type":"null"},"contains":{}}`, `null`, `does not fit "not" of the schema`},
		{`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"b":1}`, `does not fit "unevaluatedProperties" of the schema`},
		{`{"if":{"required":["a"]},"then":{"properties":{"a":{"type":"null"}}}}`, `{"a":1}`, `/a: must be of type null, not integer`},
		{`{"anyOf":[{"additionalProperties":false},{"type":"null"}]}`, `{"d":1,"b":1,"a":1,"c":1}`, `fits none of the 2 schemas of anyOf; of the nearest:
must not have "a"
must not have "b"
must not have "c"
must not have "d"`},
		{`{"prefixItems":[{"enum":["a","b"]}],"items":false}`, `["c",1]`, "/0: must be one of \"a\", \"b\", not \"c\"\nmust not have more than 1 items"},
		{`{"properties":{"a/b~c":{"type":"null"}}}`, `{"a/b~c":1}`, `/a~1b~0c: must be of type null, not integer`},
		{`{"properties":{"r":{"$ref":"#"}},"required":["r"]}`, `{"r":{"r":{}}}`, `/r/r: lacks "r"`},
	}
	for _, test := range tests {
		s, err := Parse([]byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		_, problems := s.Check(test.value)
		var got []string
		for _, p := range problems {
			got = append(got, p.Error())
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s of %s:\n%s", test.schema, test.value, got)
		}
	}
}

func TestMany(t *testing.T) {
	s, _ := Parse([]byte(`{"items":{"type":"null"}}`))
	if _, problems := s.Check("[" + strings.Repeat("1,", 99) + "1]"); len(problems) != most {
		t.Errorf("%d problems are told", len(problems))
	}
}

func TestNumbersStay(t *testing.T) {
	s, _ := Parse([]byte(`{}`))
	got, problems := s.Check("{ \"a\" : [ 1.00, 12345678901234567890, 1E2 ],\n\"b\": \"\\u00e9 <\" }")
	if want := `{"a":[1.00,12345678901234567890,1E2],"b":"\u00e9 <"}`; string(got) != want {
		t.Errorf("%s %v", got, problems)
	}
}

func TestUnsound(t *testing.T) {
	tests := []struct{ schema, want string }{
		{``, `is empty, and no JSON`},
		{`{"type":`, `is not JSON: unexpected end of JSON input (line 1, column 8)`},
		{`[]`, `a schema is an object`},
		{`true`, `a schema is an object`},
		{`{"type":"strin"}`, `/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string", not "strin"`},
		{`{"type":[]}`, `/type: must have at least 1 items`},
		{`{"properties":{"a":{"required":"b"}}}`, `/properties/a/required: must be of type array, not string`},
		{`{"properties":{"a":3}}`, `/properties/a: must be of type object or boolean, not integer`},
		{`{"properties":{"a":null}}`, `/properties/a: must be of type object or boolean, not null`},
		{`{"allOf":[]}`, `/allOf: must have at least 1 items`},
		{`{"minLength":-1}`, `/minLength: must be at least 0, not -1`},
		{`{"multipleOf":0}`, `/multipleOf: must be more than 0, not 0`},
		{`{"type":"object","type":"array"}`, `/type: stands there twice`},
		{`{"items":{"pattern":"(?=a)"}}`, "/items/pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		{`{"patternProperties":{"(":{}}}`, "/patternProperties: error parsing regexp: missing closing ): `(`"},
		{`{"$ref":"#/$defs/a"}`, `json-pointer in "#/$defs/a" not found`},
		{`{"properties":{"a":{"$ref":"http://127.0.0.1:9/a.json"}}}`, `failing loading "http://127.0.0.1:9/a.json": only references within a schema, and drafts 04 to 2020-12, are understood`},
		{`{"$ref":"file:///etc/passwd"}`, `failing loading "file:///etc/passwd": only references within a schema, and drafts 04 to 2020-12, are understood`},
		{`{"$ref":"other.json#/a"}`, `failing loading "other.json": only references within a schema, and drafts 04 to 2020-12, are understood`},
		{`{"$ref":"%"}`, `/$ref: must be of the format uri-reference`},
		{`{"$ref":"#"}`, `refers to itself without end`},
		{`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, `/$defs/a: refers to itself without end`},
		{`{"$schema":"http://json-schema.org/draft-03/schema#"}`, `failing loading "http://json-schema.org/draft-03/schema": only references within a schema, and drafts 04 to 2020-12, are understood`},
		{`{"items":[{}]}`, `/items: is a list; draft 2020-12 calls that prefixItems`},
		{`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `/$dynamicRef: is not understood; $ref is`},
	}
	for _, test := range tests {
		if _, err := Parse([]byte(test.schema)); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", test.schema, err)
		}
	}
}

// FuzzCheck puts any schema and any value to both libraries. Nothing panics,
// runs on for ever or reaches for the network, and where both understand the
// schema they agree.
func FuzzCheck(f *testing.F) {
	for _, m := range meanings {
		for _, v := range append(m.fit[:len(m.fit):len(m.fit)], m.not...) {
			f.Add(m.schema, v)
		}
	}
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `1`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Parse([]byte(schema))
		if err != nil {
			return
		}
		got, problems := s.Check(value)
		if len(problems) > 0 && got != nil || len(problems) == 0 && got == nil {
			t.Errorf("%s and %v", got, problems)
		}
		for _, p := range problems {
			if p.Message == "" || strings.ContainsAny(p.Message, "\n") {
				t.Errorf("a message like %q", p.Message)
			}
		}
		if again, _ := s.Check(string(got)); got != nil && string(again) != string(got) {
			t.Errorf("%s is not the end of it: %s", got, again)
		}
		if _, _, p := read([]byte(value), maxNested); p != nil || len(problems) > 0 && strings.HasPrefix(problems[0].Message, "takes too long") {
			return // it is not held to the schema
		}
		if odd.MatchString(schema+value) || strings.ToLower(schema) != schema {
			return // the other library reads keywords in any case; numbers and formats are read more or less exactly, and some are our own
		}
		other, err := understood(schema)
		if err != nil {
			return
		}
		if fits := len(problems) == 0; fits != agrees(t, other, value) {
			t.Errorf("%s of %s: %v; the other library says otherwise", schema, value, problems)
		}
	})
}

// odd matches what libraries differ about.
var odd = regexp.MustCompile(`[0-9.]{9}|[0-9.][eE]|"(format|multipleOf|\$ref|\$id|\$schema|\$anchor)"|\\`)

// agrees reports what the other library says of a value.
func agrees(t *testing.T, s *jsonschema.Resolved, value string) bool {
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", value, err))
	}
	return s.Validate(v) == nil
}
