package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
)

// TestCache puts other messages into a conversation between two requests in every way;
// the second must say what is, not what was.
func TestCache(t *testing.T) {
	says := func(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }
	for name, change := range map[string]func(h []*genai.Content) []*genai.Content{
		"nothing":   func(h []*genai.Content) []*genai.Content { return h },
		"more":      func(h []*genai.Content) []*genai.Content { return append(h, says("more")) },
		"replaced":  func(h []*genai.Content) []*genai.Content { h[1] = says("b"); return h },
		"nil":       func(h []*genai.Content) []*genai.Content { h[0] = nil; return h },
		"rest":      func(h []*genai.Content) []*genai.Content { return h[1:] },
		"exchanged": func(h []*genai.Content) []*genai.Content { h[0], h[1] = h[1], h[0]; return h },
		"none":      func(h []*genai.Content) []*genai.Content { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := &cache{}
			b := body{contents: []*genai.Content{says("one"), {Role: genai.RoleModel, Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{ID: "1", Name: "f", Args: map[string]any{"list": []any{"a"}}}}}}, says("three")},
				config: &genai.GenerateContentConfig{SystemInstruction: says("be good")}}
			for range 2 {
				if _, err := b.encode(c); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.messages) != 3 {
				t.Errorf("%d messages are known", len(c.messages))
			}
			b.contents = change(b.contents)
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
		secrets.Add("password", "sesame-open-1234")
	}
	// What another request has written before, and hands in late, is not kept.
	m := genai.NewContentFromText(strings.Repeat("sesame-open-1234 ", 9), genai.RoleUser)
	if c.store(m, make([]byte, 200), 0); c.find(m) != nil {
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
			total += len(k)
		}
		if total > mostKept {
			t.Fatalf("%d bytes are kept", total)
		}
	}
}

// TestForeignThoughts sends no thought of another provider's to Google.
func TestForeignThoughts(t *testing.T) {
	got, err := body{contents: []*genai.Content{{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "hm", Thought: true, ThoughtSignature: engine.Sign("anthropic", []byte("s"))}, {Text: "a"}}}}}.encode(nil)
	if want := `{"contents":[{"parts":[{"text":"a"}],"role":"model"}]}`; err != nil || string(got.text()) != want {
		t.Errorf("encoded %s, %v; want %s", got.text(), err, want)
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
