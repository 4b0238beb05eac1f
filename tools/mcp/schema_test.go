package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// The API is shown types of JSON Schema only, and arguments are held to these.
func TestTypesOfOtherLanguages(t *testing.T) {
	for _, test := range []struct{ schema, declared, args, fitted string }{
		{`{"type":"object","properties":{"n":{"type":"int"}}}`, `{"properties":{"n":{"type":"integer"}},"type":"object"}`, `{"n":"1"}`, `{"n":1}`},
		{`{"type":"dict","properties":{"b":{"type":"bool"},"f":{"type":"float"},"s":{"type":"str"}}}`,
			`{"properties":{"b":{"type":"boolean"},"f":{"type":"number"},"s":{"type":"string"}},"type":"object"}`,
			`{"b":"true","f":"0.5","s":1}`, `{"b":true,"f":0.5,"s":"1"}`},
		{`{"type":"OBJECT","properties":{"l":{"type":"List","items":{"type":"INTEGER"}}}}`,
			`{"properties":{"l":{"items":{"type":"integer"},"type":"array"}},"type":"object"}`, `{"l":["1"]}`, `{"l":[1]}`},
		{`{"type":"object","properties":{"o":{"type":["int","None"]}}}`, `{"properties":{"o":{"nullable":true,"type":"integer"}},"type":"object"}`, `{"o":"2"}`, `{"o":2}`},
		{`{"type":"object","properties":{"x":{"type":"Foo","description":"d"},"y":{"type":"any"}}}`,
			`{"properties":{"x":{"description":"d"},"y":{}},"type":"object"}`, `{"x":"1","y":[]}`, `{"x":"1","y":[]}`},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"int"},{"type":"str"}]}},"$defs":{"d":{"type":"long"}}}`,
			`{"$defs":{"d":{"type":"integer"}},"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"string"}]}},"type":"object"}`, `{"a":"1"}`, `{"a":"1"}`},
		{`{"type":"object","properties":{"type":{"type":"string","enum":["int"]}}}`,
			`{"properties":{"type":{"enum":["int"],"type":"string"}},"type":"object"}`, `{"type":"int"}`, `{"type":"int"}`},
		{`{"type":"object","required":"n","properties":{"n":{"type":"string","required":true,"minLength":"1","enum":[],"pattern":["a"]}}}`,
			`{"properties":{"n":{"type":"string"}},"type":"object"}`, `{"n":"1"}`, `{"n":"1"}`},
		{`{"type":"object","properties":{"b":true,"c":{"const":"x"},"n":{"type":"str","nullable":true,"uniqueItems":"yes"},"t":{"type":["string","int"]}}}`,
			`{"properties":{"b":{},"c":{"enum":["x"]},"n":{"nullable":true,"type":"string"},"t":{"type":["string","integer"]}},"type":"object"}`, `{"c":"x"}`, `{"c":"x"}`},
		{`{"type":"object","properties":{"n":{"anyOf":[true]}},"$defs":{}}`, `{"properties":{"n":{}},"type":"object"}`, `{"n":"1"}`, `{"n":"1"}`},
		{`{"$ref":"#/$defs/d","$defs":{"d":{"type":"object","properties":{"n":{"type":"integer"}}}}}`,
			`{"$defs":{"d":{"properties":{"n":{"type":"integer"}},"type":"object"}},"$ref":"#/$defs/d","properties":{},"type":"object"}`, `{"n":"1"}`, `{"n":1}`},
		{`{"type":"object","required":["n"],"properties":{"n":{"type":"string","nullable":true},"o":{"type":"str","enum":["a"],"nullable":true},"default":{"nullable":true,"allOf":[{"type":"string"}]}}}`,
			`{"properties":{"default":{"allOf":[{"type":"string"}],"nullable":true},"n":{"nullable":true,"type":"string"},"o":{"enum":["a"],"nullable":true,"type":"string"}},"required":["n"],"type":"object"}`,
			`{"default":null,"n":null,"o":null}`, `{"default":null,"n":null,"o":null}`},
		{`{"type":"object","properties":{"o":{"type":["int","None"]}}}`, `{"properties":{"o":{"nullable":true,"type":"integer"}},"type":"object"}`, `{"o":null}`, `{"o":null}`},
		{`{"type":"object","properties":{"n":{"type":3}}}`, `{"properties":{"n":{}},"type":"object"}`, `{"n":"1"}`, `{"n":"1"}`},
	} {
		if got := string(DeclaredSchema(json.RawMessage(test.schema))); got != test.declared {
			t.Errorf("%s\n is declared as %s\n not %s", test.schema, got, test.declared)
		}
		shape := shapeOf(json.RawMessage(test.schema))
		if shape == nil {
			t.Errorf("%s is not understood", test.schema)
			continue
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(test.args), &args); err != nil {
			t.Fatal(err)
		}
		fitted, _, problem := shape.Fit(args)
		if b, _ := json.Marshal(fitted); string(b) != test.fitted || problem != "" {
			t.Errorf("%s: %s becomes %s, %s", test.schema, test.args, b, problem)
		}
	}
}

// The lists of a server's tools take both names of a tool, and what they name in vain is said once.
func TestListedTools(t *testing.T) {
	for _, c := range []struct {
		include, exclude []string
		want, said       string
	}{
		{nil, nil, "read write", ""},
		{[]string{"read"}, nil, "read", ""},
		{[]string{"mcp_s_read"}, nil, "read", ""},
		{nil, []string{"mcp_s_write"}, "read", ""},
		{[]string{"reed", "write"}, nil, "write", "MCP server s: includeTools and excludeTools name reed, which the server does not have; did you mean read?"},
		{nil, []string{"delete"}, "read write", "MCP server s: includeTools and excludeTools name delete, which the server does not have"},
	} {
		var said []string
		set := &Set{Config: Config{Notify: func(s string) { said = append(said, s) }}}
		cat := &catalog{server: Server{Name: "s", Include: c.include, Exclude: c.exclude}, owner: set, warned: map[string]string{}}
		for range 2 {
			cat.takeTools([]rawTool{{Name: "read"}, {Name: "write"}})
		}
		var got []string
		for _, tool := range cat.tools {
			got = append(got, tool.Name)
		}
		if strings.Join(got, " ") != c.want || strings.Join(said, "\n") != c.said {
			t.Errorf("%v, %v: %v, %q", c.include, c.exclude, got, said)
		}
	}
}
