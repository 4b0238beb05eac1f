package model_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// chunkText is a chunk as the API sends it.
const chunkText = `{"candidates": [{"content": {"parts": [{"text": "some words of output here"}],"role": "model"},"index": 0}],` +
	`"usageMetadata": {"promptTokenCount": 100,"candidatesTokenCount": 5,"totalTokenCount": 105,` +
	`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 100}]},"modelVersion": "gemini-2.5-pro","responseId": "abcdef"}`

// wire answers every request with the same body.
type wire string

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(w))), Request: r}, nil
}

func open(b testing.TB, w wire) *model.Genai {
	g, err := model.NewGenai(model.Options{APIKey: key, Transport: w})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkChunk measures one chunk of a long stream, between the wire and the
// consumer, with everything that main puts around it.
func BenchmarkChunk(b *testing.B) {
	short := `{"candidates":[{"content":{"parts":[{"text":"some words of output here"}],"role":"model"}}]}`
	for name, text := range map[string]string{"usual": chunkText, "short": short} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			g := model.Retry(open(b, wire(strings.Repeat(et.Event(text), b.N)+et.Event(`{"candidates":[{"finishReason":"STOP"}]}`))), model.RetryOptions{})
			b.ResetTimer()
			n := 0
			for _, err := range g.Generate(b.Context(), ask("q")) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != b.N+1 {
				b.Fatalf("%d chunks, want %d", n, b.N+1)
			}
		})
	}
}

// BenchmarkRequest measures one request with a history of many tool steps.
func BenchmarkRequest(b *testing.B) {
	for _, steps := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			req := ask("hello")
			for i := range steps {
				id := fmt.Sprint(i)
				req.Contents = append(req.Contents,
					&genai.Content{Role: "model", Parts: []*genai.Part{{FunctionCall: et.Call(id, "read_file", "file_path", "a/b/c.go"), ThoughtSignature: make([]byte, 100)}}},
					&genai.Content{Role: "user", Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: id, Name: "read_file",
						Response: map[string]any{"output": strings.Repeat("if a < b && c > d {\n\treturn \"x\"\n}\n", 40)}}}}})
			}
			req.Config = &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(strings.Repeat("be good ", 2000), "user")}
			for i := range 15 {
				req.Config.Tools = append(req.Config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{{
					Name: fmt.Sprint("tool", i), Description: strings.Repeat("does things ", 20),
					ParametersJsonSchema: []byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`)}}})
			}
			g := open(b, wire(et.Event(chunkText)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := hear(b, g, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHuge measures one chunk of 20 MB.
func BenchmarkHuge(b *testing.B) {
	text := `{"candidates":[{"content":{"parts":[{"text":"` + strings.Repeat("0123456789abcde\\n", 20<<16) + `"}]}}]}`
	g := open(b, wire(et.Event(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hear(b, g, ask("q")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlayback measures one chunk of a recording.
func BenchmarkPlayback(b *testing.B) {
	b.ReportAllocs()
	line := []byte(`{"method":"generateContentStream","response":[`)
	line = append(line, bytes.Repeat([]byte(chunkText+","), b.N)...)
	line = append(line, "{}]}\n"...)
	f := model.NewFake("bench", bytes.NewReader(line), true)
	b.ResetTimer()
	n := 0
	for _, err := range f.Generate(b.Context(), &engine.Request{}) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != b.N+1 {
		b.Fatalf("%d chunks, want %d", n, b.N+1)
	}
}
