package agent

import (
	"encoding/json"
	"testing"
)

// A report is taken by whatever name it comes, where it is plain what it is.
func TestReportByAnotherName(t *testing.T) {
	const object = `{"type":"object","required":["found"],"properties":{"found":{"type":"string"},"places":{"type":"array","items":{"type":"string"}}}}`
	for _, test := range []struct{ schema, args, want string }{
		{"", `{"result":"r"}`, `"r"`},
		{"", `{"result":"r","status":"done"}`, `"r"`},
		{"", `{"summary":"r"}`, `"r"`},
		{"", `{"a":"r","b":2}`, `"{\n  \"a\": \"r\",\n  \"b\": 2\n}"`},
		{"", `{"result":7}`, `"7"`},
		{"", `{}`, `null`},
		{object, `{"result":{"found":"f"}}`, `{"found":"f"}`},
		{object, `{"result":"{\"found\":\"f\",\"places\":\"a.go\"}"}`, `{"found":"f","places":["a.go"]}`},
		{object, `{"report":{"found":"f","more":1}}`, `{"found":"f"}`},
		{object, `{"found":"f","places":["a.go"]}`, `{"found":"f","places":["a.go"]}`},
		{object, `{"result":"f"}`, `{"found":"f"}`},
		{object, `{"elsewhere":"f"}`, `{"found":"f"}`},
		{object, `{"result":7}`, `{"found":"7"}`},
		{object, `{}`, `null`},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(test.args), &args); err != nil {
			t.Fatal(err)
		}
		var got any
		tool := Report{Schema: test.schema}.tool(func(report any) { got = report })
		args, _, err := tool.Fit(args)
		call, perr := tool.Prepare(t.Context(), args)
		if (err == nil) != (perr == nil) {
			t.Errorf("%s: %v, but %v", test.args, err, perr)
		}
		if perr == nil {
			if _, err := call.Run(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}
		if b, _ := json.Marshal(got); string(b) != test.want {
			t.Errorf("%s: got %s; want %s (%v)", test.args, b, test.want, perr)
		}
	}
}
