package schema_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gemline/repl/schema"
	"gemline/repl/schematest"
)

// Every schema is one, of the draft that it names, and says of all its fields
// what they are.
func TestSchemas(t *testing.T) {
	for _, name := range schema.Names() {
		text, _ := schema.Text(name)
		if !bytes.HasSuffix(text, []byte("}\n")) || bytes.Contains(text, []byte("\r")) {
			t.Errorf("%s: no final newline", name)
		}
		if s := schematest.Published(t, name); s.DraftVersion != 2020 || s.Title == "" || s.Description == "" {
			t.Errorf("%s: draft %d, title %q, description %q", name, s.DraftVersion, s.Title, s.Description)
		}
		doc, _ := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		described(t, name, doc.(map[string]any))
	}
}

// described checks that every field in s has a description, of its own or of
// what it refers to.
func described(t *testing.T, at string, s map[string]any) {
	fields, _ := s["properties"].(map[string]any)
	for name, v := range fields {
		f, ok := v.(map[string]any)
		if !ok {
			continue
		}
		if f["description"] == nil && f["$ref"] == nil && f["const"] == nil && f["enum"] == nil && f["not"] == nil && name != "type" {
			t.Errorf("%s: the field %s has no description", at, name)
		}
	}
	for name, v := range s {
		if m, ok := v.(map[string]any); ok {
			described(t, at+"/"+name, m)
		}
	}
}

// What a later version adds is no mistake; what is missing or of another kind
// is one.
func TestTolerance(t *testing.T) {
	const tail = `"timestamp":"2026-11-20T20:40:23.003Z","seq":3,"elapsed_ms":1`
	for _, test := range []struct {
		record string
		valid  bool
	}{
		{`{"type":"message","role":"assistant","content":"hi","delta":true,` + tail + `}`, true},
		{`{"type":"message","role":"assistant","content":"hi","colour":"red",` + tail + `}`, true},
		{`{"type":"weather","sun":1}`, true},
		{`{"type":"message","role":"assistant",` + tail + `}`, false},
		{`{"type":"message","role":"nobody","content":"hi",` + tail + `}`, false},
		{`{"type":"message","role":"assistant","content":7,` + tail + `}`, false},
		{`{"type":"message","role":"assistant","content":"hi","timestamp":"yesterday","seq":3,"elapsed_ms":1}`, false},
		{`{"sun":1}`, false},
		{`[]`, false},
	} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(test.record)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schematest.Published(t, "events").Validate(v); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.record, err)
		}
	}
}

// A line of a batch is an item, with the fields of a document, or something
// else.
func TestBatchSchema(t *testing.T) {
	const document = `"session_id":"s","response":"","stats":{"models":{},"tools":{"totalCalls":0,"totalSuccess":0,"totalFail":0,"totalDurationMs":0,` +
		`"totalDecisions":{"accept":0,"reject":0,"modify":0,"auto_accept":0},"byName":{}},"files":{"totalLinesAdded":0,"totalLinesRemoved":0}},` +
		`"schema_version":1,"status":"success","exit_code":0,"termination_reason":"completed","denied":[],"timestamp":"2026-11-20T20:40:23.003Z","elapsed_ms":1`
	for _, test := range []struct {
		record string
		valid  bool
	}{
		{`{"type":"item","index":0,"id":"0","attempt":1,"model":"m",` + document + `}`, true},
		{`{"type":"item","index":0,"id":"0","attempt":1,"colour":"red",` + document + `}`, true},
		{`{"type":"result","sun":1}`, true},
		{`{"type":"item","index":0,"id":"0","attempt":1}`, false},
		{`{"type":"item","index":-1,"id":"0","attempt":1,` + document + `}`, false},
		{`{"type":"item","index":0,"attempt":1,` + document + `}`, false},
		{`{"index":0,"id":"0","attempt":1,` + document + `}`, false},
	} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(test.record)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schematest.Published(t, "batch").Validate(v); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.record, err)
		}
	}
}
