package schema

import (
	"encoding/json"
	"testing"

	et "gemline/engine/enginetest"
)

// What is meant by arguments of another form is plain, or it is told.
func TestFit(t *testing.T) {
	const form = `{"type":"object","required":["path"],"additionalProperties":false,"properties":{
		"path":{"type":"string"},"line":{"type":"integer","minimum":1},"ratio":{"type":"number"},
		"all":{"type":"boolean"},"both":{"type":["integer","string"]},"maybe":{"type":["integer","null"]},
		"size":{"anyOf":[{"type":"integer"},{"type":"null"}]},"deep":{"$ref":"#/$defs/d"},
		"kinds":{"type":"array","items":{"type":"string"}},"numbers":{"type":"array","items":{"type":"integer"}},
		"mode":{"enum":["a","b","1"]},"level":{"enum":[1,2]},"free":{"type":"object"}},
		"$defs":{"d":{"type":"object","required":["x"],"properties":{"x":{"type":"integer"},"y":{"type":"string"}},"additionalProperties":false}}}`
	s, err := Parse([]byte(form))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want, note, problem string }{
		{`{"path":"p"}`, `{"path":"p"}`, "", ""},
		{`{"path":"1","line":"1"}`, `{"line":1,"path":"1"}`, "", ""},
		{`{"path":"p","line":" 12 "}`, `{"line":12,"path":"p"}`, "", ""},
		{`{"path":"p","line":"1.0","ratio":"0.5"}`, `{"line":1,"path":"p","ratio":0.5}`, "", ""},
		{`{"path":"p","all":"true"}`, `{"all":true,"path":"p"}`, "", ""},
		{`{"path":"p","all":"False"}`, `{"all":false,"path":"p"}`, "", ""},
		{`{"path":"p","all":1}`, `{"all":true,"path":"p"}`, "", ""},
		{`{"path":5}`, `{"path":"5"}`, "", ""},
		{`{"path":true}`, `{"path":"true"}`, "", ""},
		{`{"path":"p","kinds":"[\"a\",\"b\"]"}`, `{"kinds":["a","b"],"path":"p"}`, "", ""},
		{`{"path":"p","kinds":"src/**"}`, `{"kinds":["src/**"],"path":"p"}`, "", ""},
		{`{"path":"p","kinds":["a",2]}`, `{"kinds":["a","2"],"path":"p"}`, "", ""},
		{`{"path":"p","numbers":"[\"1\",2]"}`, `{"numbers":[1,2],"path":"p"}`, "", ""},
		{`{"path":"p","numbers":3}`, `{"numbers":[3],"path":"p"}`, "", ""},
		{`{"path":"p","deep":"{\"x\":\"7\"}"}`, `{"deep":{"x":7},"path":"p"}`, "", ""},
		{`{"path":"p","both":"1"}`, `{"both":"1","path":"p"}`, "", ""},
		{`{"path":"p","maybe":"1","size":"2"}`, `{"maybe":1,"path":"p","size":2}`, "", ""},
		{`{"path":"p","maybe":null,"size":null}`, `{"maybe":null,"path":"p","size":null}`, "", ""},
		{`{"path":"p","line":null,"all":null,"kinds":null}`, `{"path":"p"}`, "", ""},
		{`{"path":"p","line":"","all":"null","size":"None","kinds":""}`, `{"path":"p"}`, "", ""},
		{`{"path":["p"]}`, `{"path":"p"}`, "", ""},
		{`{"path":"p","level":"2","mode":1}`, `{"level":2,"mode":"1","path":"p"}`, "", ""},
		{`{"path":["p","q"]}`, `{"path":["p","q"]}`, "", `params/path must be of type string, not array`},
		{`{"path":""}`, `{"path":""}`, "", ""},
		{`{"path":"p","deep":{"x":1,"y":null}}`, `{"deep":{"x":1},"path":"p"}`, "", ""},
		{`{"path":"p","free":{"a":null,"b":"1"}}`, `{"free":{"a":null,"b":"1"},"path":"p"}`, "", ""},
		{`{"path":"p","colour":"red","lines":3}`, `{"path":"p"}`, `"colour", "lines" (did you mean "line"?)`, ""},
		{`{"path":"p","deep":{"x":1,"z":2}}`, `{"deep":{"x":1},"path":"p"}`, `"deep/z"`, ""},

		{`{}`, `{}`, "", `params lacks "path"`},
		{`{"file_path":"p"}`, `{}`, `"file_path" (did you mean "path"?)`,
			`params lacks "path"; unknown: "file_path" (did you mean "path"?)`},
		{`{"name":"p"}`, `{}`, `"name" (did you mean "path"?)`,
			`params lacks "path"; unknown: "name" (did you mean "path"?)`},
		{`{"path":null}`, `{"path":null}`, "", `params/path must be of type string, not null`},
		{`{"path":{}}`, `{"path":{}}`, "", `params/path must be of type string, not object`},
		{`{"path":1.5}`, `{"path":1.5}`, "", `params/path must be of type string, not number`},
		{`{"path":1e300}`, `{"path":1e+300}`, "", `params/path must be of type string, not integer`},
		{`{"path":"p","line":"1.5"}`, `{"line":"1.5","path":"p"}`, "", `params/line must be of type integer, not string`},
		{`{"path":"p","line":"007"}`, `{"line":"007","path":"p"}`, "", `params/line must be of type integer, not string`},
		{`{"path":"p","line":"9007199254740993"}`, `{"line":9007199254740993,"path":"p"}`, "", ""},
		{`{"path":"p","line":"0"}`, `{"line":0,"path":"p"}`, "", `params/line must be at least 1, not 0`},
		{`{"path":"p","line":true}`, `{"line":true,"path":"p"}`, "", `params/line must be of type integer, not boolean`},
		{`{"path":"p","all":"yes"}`, `{"all":"yes","path":"p"}`, "", `params/all must be of type boolean, not string`},
		{`{"path":"p","kinds":"[a"}`, `{"kinds":"[a","path":"p"}`, "", `params/kinds must be of type array, not string`},
		{`{"path":"p","mode":"A"}`, `{"mode":"A","path":"p"}`, "", `params/mode must be one of "a", "b", "1", not "A"`},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(test.args), &args); err != nil {
			t.Fatal(err)
		}
		fitted, note, problem := s.Fit(args)
		got, err := json.Marshal(fitted)
		if err != nil || string(got) != test.want || note != test.note || problem != test.problem {
			t.Errorf("%s:\n got %s, %q, %q\nwant %s, %q, %q", test.args, got, note, problem, test.want, test.note, test.problem)
		}
		if again, _, same := s.Fit(fitted); problem == "" && same != "" {
			t.Errorf("%s: fits once only: %v, %s", test.args, again, same)
		}
		if before, _ := json.Marshal(args); string(before) != string(compact(t, test.args)) {
			t.Errorf("%s was changed: %s", test.args, before)
		}
	}
	et.Bounds(t, func(text string) { s.Fit(map[string]any{"path": text, "kinds": text, "deep": text}) }, `[[`, `{"x":`, `["a",`)
}

func compact(t *testing.T, text string) []byte {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a schema does not say is left as it is.
func TestFitOpenObjects(t *testing.T) {
	for _, test := range []struct{ schema, args, want string }{
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":"1","b":"2"}`, `{"a":1,"b":"2"}`},
		{`{"type":"object","properties":{"a":{"type":"integer"}},"patternProperties":{"^x":{}},"additionalProperties":false}`,
			`{"a":"1","x1":"2","y":3}`, `{"a":1,"x1":"2"}`},
		{`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"type":"integer"}}}`,
			`{"a":"1"}`, `{"a":1}`},
		{`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"boolean"}]}}}`, `{"a":"1"}`, `{"a":"1"}`},
		{`{"type":"object","properties":{"a":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"a":{"a":{"n":"2"}}}`, `{"a":{"a":{"n":2}}}`},
	} {
		s, err := Parse([]byte(test.schema))
		if err != nil {
			t.Fatal(err)
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(test.args), &args); err != nil {
			t.Fatal(err)
		}
		fitted, _, _ := s.Fit(args)
		if got, _ := json.Marshal(fitted); string(got) != test.want {
			t.Errorf("%s with %s: got %s; want %s", test.schema, test.args, got, test.want)
		}
	}
}
