package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/schema"
	"gemline/tools/mcp/rpc"
)

// A question that nobody can be asked, or that can't be asked, is told.
func TestUnanswered(t *testing.T) {
	for _, test := range []struct {
		asked, result, told string
	}{
		{`{"message":"Log\nin\u001b[2J."}`, `{"action":"cancel"}`, `Log in\u001b[2J.: denied: nobody to ask; come back`},
		{`{"message":"Log in.","mode":"url","url":"https://x.test"}`, `error -32602: the mode "url" is not supported`, `Log in.: the mode "url" is not supported`},
		{`{"message":"Log in.","requestedSchema":{"properties":{"n":3}}}`, "error -32602: the form is not understood", "Log in.: the form is not understood"},
	} {
		var e elicitation
		if err := json.Unmarshal([]byte(test.asked), &e); err != nil {
			t.Fatal(err)
		}
		d := &desk{answer: func(engine.Proposal) engine.Answer { return engine.Unasked{Advice: "come back"} }}
		r, err := e.put(t.Context(), "go", &running{host: d})
		b, _ := json.Marshal(r)
		said := string(b)
		if refused := (*rpc.Error)(nil); errors.As(err, &refused) {
			said = fmt.Sprintf("error %d: %s", refused.Code, refused.Message)
		}
		if !strings.HasPrefix(said, test.result) {
			t.Errorf("%s: %s, want %s", test.asked, said, test.result)
		}
		if told := fmt.Sprint(d.shown); !strings.HasPrefix(told, "[{the MCP server go wanted to ask: "+test.told) {
			t.Errorf("%s: told %s, want %s", test.asked, told, test.told)
		}
	}
}

// Where nothing is said, the defaults hold that were shown.
func TestDefaults(t *testing.T) {
	for shape, want := range map[string]string{
		`{"properties":{"ok":{"type":"boolean","default":true},"note":{"type":"string"}}}`:               `{"action":"accept","content":{"ok":true}}`,
		`{"properties":{"ok":{"type":"boolean","default":true},"n":{"type":"number"}},"required":["n"]}`: `{"action":"decline"}`,
		`{"properties":{"note":{"type":"string"}}}`:                                                      `{"action":"decline"}`,
	} {
		d := &desk{answer: func(p engine.Proposal) engine.Answer {
			return engine.Replied{Replies: make([]string, len(p.Intent.Questions))}
		}}
		r, err := elicitation{RequestedSchema: json.RawMessage(shape)}.put(t.Context(), "go", &running{host: d})
		if b, _ := json.Marshal(r); err != nil || string(b) != want {
			t.Errorf("%s: %s, %v, want %s", shape, b, err, want)
		}
	}
}

// Of many answers only those are asked for again that don't fit.
func TestForm(t *testing.T) {
	const asked = `{"type":"object","required":["age","name"],"properties":{"age":{"type":"integer","minimum":0},"size":{"type":"number","default":3},
		"name":{"type":"string"},"colour":{"type":"string","enum":["red","blue"]},"mail":{"type":"string","maxLength":5}}}`
	e := elicitation{RequestedSchema: json.RawMessage(asked)}
	fields, err := e.fields() // in this order
	if err != nil {
		t.Fatal(err)
	}
	for name, rounds := range map[string][]struct {
		said, open string // what is open behind it, by name
		content    string
	}{
		"at once": {{said: "3|4|Ada|red|a@b", content: `{"age":3,"colour":"red","mail":"a@b","name":"Ada","size":4}`}},
		"several faults": {{said: "x|x|Ada|red|long@example.com", open: "age size mail"},
			{said: "-1|2|a@b", open: "age"}, {said: "1", content: `{"age":1,"colour":"red","mail":"a@b","name":"Ada","size":2}`}},
		"what is needed":   {{said: "3|NaN|||", open: "size name"}, {said: "|", open: "name"}, {said: "Ada", content: `{"age":3,"name":"Ada","size":3}`}},
		"half":             {{said: "3.5||Ada||", open: "age"}, {said: "3", content: `{"age":3,"name":"Ada","size":3}`}},
		"none of these":    {{said: "3||Ada|green|", open: "colour"}, {said: "", content: `{"age":3,"name":"Ada","size":3}`}},
		"fewer than asked": {{said: "3", open: "name"}, {said: "Ada", content: `{"age":3,"name":"Ada","size":3}`}},
	} {
		f := form{fields: fields, replies: make([]string, len(fields)), open: []int{0, 1, 2, 3, 4}}
		if f.shape, err = schema.Parse([]byte(asked)); err != nil {
			t.Fatal(err)
		}
		for _, round := range rounds {
			content, some := f.fill(strings.Split(round.said, "|"))
			var open []string
			for _, i := range f.open {
				open = append(open, fields[i].name)
			}
			if got := strings.Join(open, " "); got != round.open || !some {
				t.Errorf("%s: behind %q %q are open for %q, want %q", name, round.said, got, slices.Collect(maps.Values(f.problems)), round.open)
			}
			if b, _ := json.Marshal(content); round.content != "" && string(b) != round.content {
				t.Errorf("%s: %s, want %s", name, b, round.content)
			}
		}
	}
	for want, f := range map[string]field{"days (3 if left empty)": {name: "days", needed: true, Default: 3.0},
		"loud (Yes if left empty)":                            {name: "loud", Type: "boolean", Default: true},
		"size (Big, small if left empty)":                     {name: "size", Default: []any{"b", "small"}, OneOf: []enumOption{{Const: "b", Title: "Big"}}},
		"when (a date such as 2026-11-21, may be left empty)": {name: "when", Format: "date"},
		"n (a whole number, at least 1, at most 1000000)":     {name: "n", Type: "integer", needed: true, all: map[string]any{"minimum": 1.0, "maximum": 1e6}},
		"id (at least 2 characters, at most 5 characters)":    {name: "id", Type: "string", needed: true, all: map[string]any{"minLength": 2.0, "maxLength": 5.0}},
		"some (at least 1 choice, at most 2 choices)":         {name: "some", Type: "array", needed: true, all: map[string]any{"minItems": 1.0, "maxItems": 2.0}},
		"who (x\\u001b[1m if left empty)":                     {name: "who", Default: "x\x1b[1m"}} {
		if got := f.question("").Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	one := field{OneOf: []enumOption{{Const: "x", Title: "a\tb\x1b"}}}
	if got, _ := one.read(one.question("").Options[0].Label); got != "x" {
		t.Errorf("what is chosen by its label is sent as %q", got)
	}
	one = field{Type: "array", OneOf: []enumOption{{Const: "x", Title: "Red, dark"}, {Const: "y", Title: "Blue"}}}
	if got, err := one.read("Red, dark, Blue"); fmt.Sprint(got, err) != "[x y] <nil>" || !one.question("").Closed {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := one.read("Blue, purple"); err == nil || err.Error() != "purple is none of the choices" {
		t.Errorf("%q, %v", got, err)
	}
	f := form{fields: fields, replies: make([]string, len(fields)), open: []int{0, 1, 2, 3, 4}}
	if _, some := f.fill([]string{"", " ", ""}); some {
		t.Error("nothing was said, and something is made of it")
	}
}
