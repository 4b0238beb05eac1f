package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine/redact"
)

// TestCache changes a conversation in every way between two requests; the
// second must say what is, not what was.
func TestCache(t *testing.T) {
	long := strings.Repeat("long ", 100)
	history := func() []*genai.Content {
		return []*genai.Content{
			{Role: genai.RoleUser, Parts: []*genai.Part{{Text: long}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte(long)}}}},
			{Role: genai.RoleModel, Parts: []*genai.Part{
				{Text: "t" + long, Thought: true, ThoughtSignature: []byte{1}},
				{FunctionCall: &genai.FunctionCall{ID: "1", Name: "f", Args: map[string]any{"s": long, "n": 1.0, "b": true, "z": nil}}},
				{FunctionCall: &genai.FunctionCall{ID: "2", Name: "f", Args: map[string]any{"s": long, "list": []any{"a"}}}}}},
			{Role: genai.RoleUser, Parts: []*genai.Part{
				{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f", Response: map[string]any{"output": long}}},
				{FunctionResponse: &genai.FunctionResponse{ID: "2", Name: "f", Response: map[string]any{"output": long}}}}},
		}
	}
	for name, change := range map[string]func(h []*genai.Content){
		"nothing":     func(h []*genai.Content) {},
		"role":        func(h []*genai.Content) { h[0].Role = "system" },
		"text":        func(h []*genai.Content) { h[0].Parts[0].Text += "x" },
		"emptied":     func(h []*genai.Content) { h[0].Parts[0].Text = "" },
		"nil part":    func(h []*genai.Content) { h[0].Parts[0] = nil },
		"nil message": func(h []*genai.Content) { h[1] = nil },
		"blob":        func(h []*genai.Content) { h[0].Parts[1].InlineData.Data = []byte("x") },
		"blob's type": func(h []*genai.Content) { h[0].Parts[1].InlineData.MIMEType = "x" },
		"another blob": func(h []*genai.Content) {
			h[0].Parts[1].InlineData = &genai.Blob{MIMEType: "image/png", Data: []byte("y")}
		},
		"thought":   func(h []*genai.Content) { h[1].Parts[0].Thought = false },
		"signature": func(h []*genai.Content) { h[1].Parts[0].ThoughtSignature = []byte{2} },
		"id":        func(h []*genai.Content) { h[1].Parts[1].FunctionCall.ID = "3" },
		"name":      func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Name = "g" },
		"args":      func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Args = map[string]any{"s": "x"} },
		"a list":    func(h []*genai.Content) { h[1].Parts[2].FunctionCall.Args = map[string]any{"list": []any{"b"}} },
		"output": func(h []*genai.Content) {
			h[2].Parts[0].FunctionResponse.Response = map[string]any{"output": "masked"}
		},
		"to an error":   func(h []*genai.Content) { h[2].Parts[0].FunctionResponse.Response = map[string]any{"error": long} },
		"no response":   func(h []*genai.Content) { h[2].Parts[0].FunctionResponse.Response = nil },
		"media":         func(h []*genai.Content) { h[2].Parts[0].FunctionResponse.Parts = []*genai.FunctionResponsePart{{}} },
		"exchanged":     func(h []*genai.Content) { p := h[2].Parts; p[0], p[1] = p[1], p[0] },
		"another field": func(h []*genai.Content) { h[0].Parts[0].PartMetadata = map[string]any{"a": 1} },
	} {
		t.Run(name, func(t *testing.T) {
			h := history()
			c := &cache{}
			b := body{contents: h, config: &genai.GenerateContentConfig{SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: long}}}}}
			for range 2 {
				if _, err := b.encode(c); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.messages) != 4 {
				t.Errorf("%d messages are known", len(c.messages))
			}
			change(h)
			got, err := b.encode(c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := b.encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.text()) != string(want.text()) || !json.Valid(got.text()) {
				t.Errorf("encoded\n%s\nwant\n%s", got.text(), want.text())
			}
		})
	}
}

// TestCacheOfFields sets each field that the library's types have, also those that
// a later version adds, in a message that is known.
func TestCacheOfFields(t *testing.T) {
	message := func() *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "a"}, {FunctionCall: &genai.FunctionCall{Name: "f"}},
			{FunctionResponse: &genai.FunctionResponse{Name: "f", Response: map[string]any{"output": "y"}}}, {InlineData: &genai.Blob{MIMEType: "image/png"}}}}
	}
	for name, in := range map[string]func(m *genai.Content) any{
		"Part":             func(m *genai.Content) any { return m.Parts[0] },
		"FunctionCall":     func(m *genai.Content) any { return m.Parts[1].FunctionCall },
		"FunctionResponse": func(m *genai.Content) any { return m.Parts[2].FunctionResponse },
		"Blob":             func(m *genai.Content) any { return m.Parts[3].InlineData },
	} {
		fields := reflect.TypeOf(in(message())).Elem()
		for i := range fields.NumField() {
			m, c := message(), &cache{}
			b := body{contents: []*genai.Content{m}}
			before, err := b.encode(c)
			field := reflect.ValueOf(in(m)).Elem().Field(i)
			field.Set(something(field.Type()))
			after, err2 := b.encode(c)
			want, err3 := b.encode(nil)
			if err := cmp.Or(err, err2, err3); err != nil {
				t.Fatal(name, fields.Field(i).Name, err)
			}
			if string(after.text()) != string(want.text()) || len(c.messages) != 1 || string(before.text()) == string(want.text()) {
				t.Errorf("%s.%s: encoded %s, want %s", name, fields.Field(i).Name, after.text(), want.text())
			}
		}
	}
}

// something returns a value of a type that is not its zero one.
func something(of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(of, 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(something(of.Key()), reflect.Zero(of.Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	}
	return v
}

// What is known once a secret has become known is without it.
func TestCacheOfSecrets(t *testing.T) {
	c, secrets := &cache{}, &redact.Redactor{}
	b := body{contents: []*genai.Content{genai.NewContentFromText(strings.Repeat("it is sesame-open-1234 ", 9), genai.RoleUser)}, redact: secrets}
	for known := range 2 {
		for range 2 {
			got, err := b.encode(c)
			if err != nil || strings.Contains(string(got.text()), "sesame-open-1234") != (known == 0) {
				t.Errorf("%d secrets are known: %s, %v", known, got.text(), err)
			}
		}
		secrets.Know("password", "sesame-open-1234")
	}
	// What another request has written before, and hands in late, is not kept.
	m := genai.NewContentFromText(strings.Repeat("sesame-open-1234 ", 9), genai.RoleUser)
	if c.keep(m, m.Role, make([]byte, 200), 0); c.find(m, m.Role) != nil {
		t.Error("it is kept")
	}
}

// TestCacheSize sees that a cache does not grow for ever.
func TestCacheSize(t *testing.T) {
	c := &cache{}
	for i := range 40 {
		text := strings.Repeat(fmt.Sprintf("%07d ", i), 1<<17)
		if _, err := (body{contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}}).encode(c); err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, k := range c.messages {
			total += len(k.json)
		}
		if total > mostKept {
			t.Fatalf("%d bytes are kept", total)
		}
	}
}

func TestUnencodable(t *testing.T) {
	for name, b := range map[string]body{
		"a call":     {contents: []*genai.Content{{Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Args: map[string]any{"f": func() {}}}}}}}},
		"a function": {config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{ParametersJsonSchema: json.RawMessage("{")}}}}}},
	} {
		if _, err := b.encode(&cache{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
