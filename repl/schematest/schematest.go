// Package schematest checks output by the published schemas, for tests.
package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gemline/repl/schema"
)

// A Schema checks documents in two ways: as a reader would, and without unknown fields.
type Schema struct{ published, strict *jsonschema.Schema }

// Open compiles a published schema.
func Open(t testing.TB, name string) *Schema {
	t.Helper()
	text := text(t, name)
	return &Schema{compile(t, text, name), compile(t, narrow(t, text), name)}
}

// Published compiles a published schema as a reader would.
func Published(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	return compile(t, text(t, name), name)
}

func text(t testing.TB, name string) []byte {
	t.Helper()
	b, ok := schema.Text(name)
	if !ok {
		t.Fatalf("there is no schema %s", name)
	}
	return b
}

func compile(t testing.TB, text []byte, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// narrow removes the parts of a schema for later versions: unknown fields, and the alternative
// "later".
func narrow(t testing.TB, text []byte) []byte {
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var visit func(v any) any
	visit = func(v any) any {
		switch v := v.(type) {
		case []any:
			var kept []any
			for _, x := range v {
				if m, ok := x.(map[string]any); !ok || m["$ref"] != "#/$defs/later" {
					kept = append(kept, visit(x))
				}
			}
			return kept
		case map[string]any:
			for k, x := range v {
				if k != "if" {
					v[k] = visit(x)
				}
			}
			_, object := v["properties"].(map[string]any)
			if _, said := v["additionalProperties"]; object && !said && v["type"] == "object" {
				v["additionalProperties"] = false
			}
		}
		return v
	}
	b, err := json.Marshal(visit(doc))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Check returns the problem of a document, nil if it is valid.
func (s *Schema) Check(document string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		return err
	}
	if err := s.published.Validate(v); err != nil {
		return err
	}
	return s.strict.Validate(v)
}

// An End is the record of a run's end.
type End struct {
	Type     string
	Session  string `json:"session_id"`
	Status   string
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"termination_reason"`
	Error    *struct {
		Type    string
		Message string
		Code    int
	}
	Response string
	Denied   []map[string]any
	Invalid  bool `json:"invalid_utf8"`
}

// A Reader checks the output of runs.
type Reader struct{ result, events *Schema }

// NewReader returns a Reader of the published schemas.
func NewReader(t testing.TB) *Reader {
	t.Helper()
	return &Reader{Open(t, "result"), Open(t, "events")}
}

// Read checks the whole output of a run in a format, json or stream-json. It returns the end
// record, which must be the only one and the last.
func (r *Reader) Read(format, out string) (end End, err error) {
	if !strings.HasSuffix(out, "}\n") {
		return end, fmt.Errorf("it does not end with one newline: %.200q", out)
	}
	if format == "json" {
		if err := r.result.Check(out); err != nil {
			return end, err
		}
		err = json.Unmarshal([]byte(out), &end)
		return end, err
	}
	n, began := 0, false
	for line := range strings.Lines(out) {
		if err := r.events.Check(line); err != nil {
			return end, fmt.Errorf("record %d: %w: %.500q", n, err, line)
		}
		var head struct {
			Type string
			Seq  int
		}
		if err := json.Unmarshal([]byte(line), &head); err != nil || head.Seq != n {
			return end, fmt.Errorf("record %d: %v: %.500q", n, err, line)
		}
		last := strings.HasSuffix(out, line) && strings.Count(out, "\n") == n+1
		began = began || head.Type == "init" && n == 0
		if last != (head.Type == "result") || !last && !began && head.Type != "error" || head.Type == "init" && n > 0 {
			return end, fmt.Errorf("record %d is a %s: %.500q", n, head.Type, line)
		}
		if last {
			err = json.Unmarshal([]byte(line), &end)
		}
		n++
	}
	return end, err
}
