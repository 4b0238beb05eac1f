package model

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"
)

// TestAllocations counts what the two paths that matter for speed allocate: a
// chunk of an answer, and a conversation that has been said before.
func TestAllocations(t *testing.T) {
	chunk := []byte(`{"candidates": [{"content": {"parts": [{"text": "some words \"of\" output here\n"}],"role": "model"},"index": 0}],` +
		`"usageMetadata": {"promptTokenCount": 100,"candidatesTokenCount": 5,"totalTokenCount": 105},"modelVersion": "m","responseId": "r"}`)
	var d decoder
	if n := testing.AllocsPerRun(100, func() {
		if c, _, err := d.decode(chunk); err != nil || c.Candidates[0].Content.Parts[0].Text != "some words \"of\" output here\n" {
			t.Fatal(c, err)
		}
	}); n > 8 {
		t.Errorf("%g allocations for a chunk", n)
	}
	var history []*genai.Content
	for i := range 500 {
		history = append(history, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
			ID: fmt.Sprint(i), Name: "f", Response: map[string]any{"output": strings.Repeat("x", 500)}}}}})
	}
	var c cache
	if n := testing.AllocsPerRun(10, func() {
		if _, err := (body{contents: history}).encode(&c); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("%g allocations for 500 known parts", n)
	}
}
