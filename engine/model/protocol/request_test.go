package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// The answers to calls are texts for these servers, with their files beside them.
func TestResults(t *testing.T) {
	answer := func(response map[string]any, parts ...*genai.FunctionResponsePart) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f", Response: response, Parts: parts}}
	}
	image := &genai.Part{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("x")}}
	file := &genai.Part{FileData: &genai.FileData{FileURI: "gs://b/f"}}
	for _, test := range []struct {
		part *genai.Part
		said string
		fail bool
		rest []*genai.Part
	}{
		{part: answer(map[string]any{"output": "a"}), said: "a"},
		{part: answer(map[string]any{"error": "b"}), said: "b", fail: true},
		{part: answer(map[string]any{"output": "a", "error": "b"}), said: "a\nb", fail: true},
		{part: answer(map[string]any{"output": []any{1}}), said: "[1]"},
		{part: answer(map[string]any{"x": true}), said: `{"x":true}`},
		{part: answer(map[string]any{"output": "a"}, nil, &genai.FunctionResponsePart{}, &genai.FunctionResponsePart{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("x")}}), said: "a", rest: []*genai.Part{image}},
	} {
		got, rest := Results(&genai.Content{Parts: []*genai.Part{nil, {Text: "t", Thought: true}, test.part, file}})
		if len(got) != 1 || got[0].Text != test.said || got[0].Failed != test.fail {
			t.Errorf("%v: %+v", test.part.FunctionResponse, got)
		}
		if diff := cmp.Diff(append(test.rest, file), rest); diff != "" {
			t.Error(diff)
		}
	}
	if got, want := DescribeFile(file), "[the file gs://b/f, which this model can't read]"; got != want {
		t.Error(got)
	}
}

func TestEffort(t *testing.T) {
	for budget, want := range map[int32]string{-1: "", 0: "low", 2048: "low", 2049: "medium", 8192: "medium", 8193: "high"} {
		if got := Effort(&genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{ThinkingBudget: &budget}}); got != want {
			t.Errorf("%d: %s; want %s", budget, got, want)
		}
	}
}

// A schema of genai's is declared like another; what the model may call is said in two words.
func TestTools(t *testing.T) {
	c := &genai.GenerateContentConfig{Tools: []*genai.Tool{nil, {FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", Parameters: &genai.Schema{Type: genai.TypeObject}}}}},
		ResponseSchema: &genai.Schema{Type: genai.TypeArray}, ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}}}
	tools, err := Tools(c, Cut{})
	if err != nil || len(tools) != 1 || string(tools[0].Schema) != `{"type":"object"}` {
		t.Errorf("%s, %v", tools, err)
	}
	if schema, asked, err := Schema(c, Cut{}); err != nil || !asked || string(schema) != `{"type":"array"}` {
		t.Errorf("%s, %v, %v", schema, asked, err)
	}
	if how, _ := ToolChoice(c); how != "auto" {
		t.Error(how)
	}
}

func TestMarkedText(t *testing.T) {
	for text, want := range map[string]string{"no": "Error: no", "Error: no": "Error: no"} {
		if got := (Result{Text: text, Failed: true}).MarkedText(); got != want {
			t.Errorf("%q", got)
		}
	}
}
