package model

import (
	"encoding/json"
	"fmt"
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
		"thought":       func(h []*genai.Content) { h[1].Parts[0].Thought = false },
		"signature":     func(h []*genai.Content) { h[1].Parts[0].ThoughtSignature = []byte{2} },
		"id":            func(h []*genai.Content) { h[1].Parts[1].FunctionCall.ID = "3" },
		"name":          func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Name = "g" },
		"args":          func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Args = map[string]any{"s": "x"} },
		"string":        func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Args["s"] = "x" },
		"number":        func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Args["n"] = 2.0 },
		"to a list":     func(h []*genai.Content) { h[1].Parts[1].FunctionCall.Args["n"] = []any{1} },
		"another key":   func(h []*genai.Content) { m := h[1].Parts[1].FunctionCall.Args; delete(m, "z"); m["y"] = nil },
		"in a list":     func(h []*genai.Content) { h[1].Parts[2].FunctionCall.Args["list"].([]any)[0] = "b" },
		"output":        func(h []*genai.Content) { h[2].Parts[0].FunctionResponse.Response["output"] = "masked" },
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
			if len(c.parts) < 5 {
				t.Errorf("%d parts are known", len(c.parts))
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
			if string(got) != string(want) || !json.Valid(got) {
				t.Errorf("encoded\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What is known once a secret has become known is without it.
func TestCacheOfSecrets(t *testing.T) {
	c, secrets := &cache{}, &redact.Redactor{}
	b := body{contents: []*genai.Content{genai.NewContentFromText(strings.Repeat("it is sesame-open-1234 ", 9), genai.RoleUser)}, redact: secrets}
	for known := range 2 {
		for range 2 {
			got, err := b.encode(c)
			if err != nil || strings.Contains(string(got), "sesame-open-1234") != (known == 0) {
				t.Errorf("%d secrets are known: %s, %v", known, got, err)
			}
		}
		secrets.Know("password", "sesame-open-1234")
	}
	// What another request has written before, and hands in late, is not kept.
	p := genai.NewPartFromText(strings.Repeat("sesame-open-1234 ", 9))
	if c.keep(p, make([]byte, 200), 0); c.find(p) != nil {
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
		for _, k := range c.parts {
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
