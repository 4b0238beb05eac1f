package engine_test

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// Both kinds of references are told once, in order, behind the answer; those of an attempt
// that failed are not.
func TestCited(t *testing.T) {
	web := func(title, uri string) *genai.GroundingChunk {
		return &genai.GroundingChunk{Web: &genai.GroundingChunkWeb{Title: title, URI: uri}}
	}
	r := et.Streams("It is ", "so.")
	first, last := r.Chunks[0].Candidates[0], r.Chunks[1].Candidates[0]
	first.GroundingMetadata = &genai.GroundingMetadata{GroundingChunks: []*genai.GroundingChunk{web("b", "https://b"), nil, {}, web("", "")}}
	last.GroundingMetadata = &genai.GroundingMetadata{GroundingChunks: []*genai.GroundingChunk{web("b", "https://b"), web("a", "https://a")}}
	last.CitationMetadata = &genai.CitationMetadata{Citations: []*genai.Citation{{URI: "https://c"}, nil, {Title: "none"}}}
	e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(r, et.Says("And that."))})
	rec := et.Record(e.Run(t.Context(), genai.NewPartFromText("go")))
	rec.Watch(e.Run(t.Context(), genai.NewPartFromText("more")))
	want := "turn 1 m\ntext It is \ntext so.\ncited [https://c (a) https://a (b) https://b]\nturn 2 m\ntext And that.\n"
	if rec.String() != want {
		t.Errorf("%s, not %s", rec, want)
	}
	many := et.Says("Well.")
	for range 1000 {
		many.Chunks[0].Candidates[0].GroundingMetadata = last.GroundingMetadata
		last.GroundingMetadata.GroundingChunks = append(last.GroundingMetadata.GroundingChunks, web(strings.Repeat("x", len(last.GroundingMetadata.GroundingChunks)), "https://x"))
	}
	e = engine.New(engine.Config{Model: "m", Generator: et.NewScript(many)})
	for ev, err := range e.Run(t.Context(), genai.NewPartFromText("go")) {
		if c, ok := ev.(engine.Citations); err != nil || ok && len(c.References) != 100 {
			t.Error(err, len(c.References))
		}
	}
}
