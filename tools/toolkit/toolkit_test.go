package toolkit

import (
	"context"
	"encoding/json"
	"testing"

	"gemline/engine"
)

func TestArgumentsAreChecked(t *testing.T) {
	type args struct {
		Path  string   `json:"path"`
		Line  int      `json:"line"`
		Kinds []string `json:"kinds"`
	}
	const schema = `{"type": "object", "properties": {
		"path":{"type":"string"},
		"line":{"type":"integer","minimum":1},
		"all":{"type":"boolean"},
		"mode":{"type":"string","enum":["a","b"]},
		"kinds":{"type":"array","items":{"type":"string"}}},"required":["path"]}`
	var got args
	tool := Define("t", "T", engine.Read, "doc", schema, func(_ context.Context, a args) (engine.Call, error) {
		got = a
		return engine.Call{}, nil
	})
	for _, test := range []struct{ name, args, err string }{
		{"nothing", `null`, "params lacks \"path\""},
		{"missing", `{"line":1}`, "params lacks \"path\""},
		{"wrong type", `{"path":{}}`, "params/path must be of type string, not object"},
		{"not whole", `{"path":"p","line":1.5}`, "params/line must be of type integer, not number"},
		{"too small", `{"path":"p","line":0}`, "params/line must be at least 1, not 0"},
		{"huge", `{"path":"p","line":1e300}`, "json: cannot unmarshal number 1e+300 into Go struct field args.line of type int"},
		{"not in the list", `{"path":"p","mode":"c"}`, "params/mode must be one of \"a\", \"b\", not \"c\""},
		{"bad item", `{"path":"p","kinds":["a",[]]}`, "params/kinds/1 must be of type string, not array"},
		{"not a list", `{"path":"p","kinds":"[a"}`, "params/kinds must be of type array, not string"},
		{"misspelt", `{"pathh":"q"}`, "params lacks \"path\"; unknown: \"pathh\" (did you mean \"path\"?)"},
		{"unknown", `{"path":"p","pathh":"q"}`, ""},
		{"types", `{"path":1,"line":"3","all":"true","kinds":"[\"x\"]"}`, ""},
		{"null of an optional argument", `{"path":"p","mode":null}`, ""},
		{"null", `{"path":null}`, "params/path must be of type string, not null"},
		{"two", `{"path":[],"line":0}`, "params/line must be at least 1, not 0; params/path must be of type string, not array"},
		{"wait", `{"path":"p","wait_for_previous":true}`, ""},
		{"right", `{"path":"p","line":3,"all":true,"kinds":["x"]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m map[string]any
			if err := json.Unmarshal([]byte(test.args), &m); err != nil {
				t.Fatal(err)
			}
			_, err := tool.Prepare(t.Context(), m)
			if test.err == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || err.Error() != test.err {
				t.Errorf("got %v; want %s", err, test.err)
			}
			if engine.ErrorType(err) != engine.InvalidToolParams {
				t.Errorf("got type %s", engine.ErrorType(err))
			}
		})
	}
	if got.Line != 3 || got.Path != "p" || len(got.Kinds) != 1 {
		t.Errorf("decoded %+v", got)
	}
}
