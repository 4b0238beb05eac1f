package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
)

// TestStructured shows when the API is given the schema: with tools only if
// the model takes both, else once there is nothing left but to answer; and no
// longer when it was refused.
func TestStructured(t *testing.T) {
	bad := enginetest.Fails(&Error{Kind: BadRequest, HTTP: 400, Message: "the schema is too complex"})
	busy := enginetest.Fails(&Error{Kind: Unavailable, HTTP: 503, Message: "busy"})
	ok := enginetest.Says("{}")
	tests := []struct {
		name, model string
		tools       bool
		replies     []enginetest.Reply
		insist      int    // before this request
		want        string // a word for each request that was made
		notices     int
	}{
		{name: "an older model", model: "gemini-2.5-flash", tools: true, replies: []enginetest.Reply{ok, ok}, want: "tools tools"},
		{name: "an older model without tools", model: "gemini-2.5-flash", replies: []enginetest.Reply{ok}, want: "schema"},
		{name: "an older model mends", model: "gemini-2.5-flash", tools: true, replies: []enginetest.Reply{ok, ok}, insist: 1, want: "tools schema"},
		{name: "a newer model", model: "models/gemini-3.5-flash", tools: true, replies: []enginetest.Reply{ok, ok}, insist: 1, want: "tools+schema tools+schema"},
		{name: "one to come", model: "gemini-12-pro", tools: true, replies: []enginetest.Reply{ok}, want: "tools+schema"},
		{name: "another family", model: "gemma-4-31b-it", tools: true, replies: []enginetest.Reply{ok}, want: "tools"},
		{name: "a name that moves", model: "gemini-flash-latest", tools: true, replies: []enginetest.Reply{ok}, want: "tools+schema"},
		{name: "refused", model: "gemini-3-pro", tools: true, replies: []enginetest.Reply{bad, ok, ok}, want: "tools+schema tools tools", notices: 1},
		{name: "refused without tools", model: "gemini-2.5-pro", tools: true, replies: []enginetest.Reply{ok, bad, ok, ok}, insist: 1, want: "tools schema none none", notices: 1},
		{name: "refused for another reason", model: "gemini-3-pro", tools: true, replies: []enginetest.Reply{bad, bad, ok}, want: "tools+schema tools tools+schema"},
		{name: "not an error of ours", model: "gemini-3-pro", tools: true, replies: []enginetest.Reply{busy}, want: "tools+schema"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := enginetest.NewScript(test.replies...)
			s, err := Structure(script, json.RawMessage(`{"$schema":"x","type":"object","properties":{"b":{},"a":{}}}`))
			if err != nil {
				t.Fatal(err)
			}
			notices := 0
			config := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("You are kind.", genai.RoleUser)}
			if test.tools {
				config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read"}}}}
			}
			for i := 0; script.Left() > 0; i++ {
				if i > 0 && i == test.insist {
					s.Insist()
				}
				for range s.Generate(t.Context(), &engine.Request{Model: test.model, Config: config, Contents: genai.Text("hi"),
					Notify: func(engine.Event) { notices++ }}) {
				}
			}
			var got []string
			for _, r := range script.Requests() {
				got = append(got, form(t, r))
			}
			if got := strings.Join(got, " "); got != test.want || notices != test.notices {
				t.Errorf("%s, and %d notices", got, notices)
			}
			if text := config.SystemInstruction.Parts[0].Text; text != "You are kind." {
				t.Errorf("the caller's instruction is now %q", text)
			}
		})
	}
}

// form says in a word what a request holds the model to.
func form(t *testing.T, r *engine.Request) string {
	if text := r.Config.SystemInstruction.Parts[0].Text; !strings.HasPrefix(text, "You are kind.\n\n") || !strings.Contains(text, `"type":"object"`) {
		t.Errorf("the instruction is %q", text)
	}
	var words []string
	if len(r.Config.Tools) > 0 {
		words = append(words, "tools")
	}
	if r.Config.ResponseJsonSchema != nil {
		if got := fmt.Sprintf("%s: %v", r.Config.ResponseMIMEType, r.Config.ResponseJsonSchema); got != "application/json: map[properties:map[a:map[] b:map[]] type:object]" {
			t.Errorf("the API is given %s", got)
		}
		words = append(words, "schema")
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, "+")
}
