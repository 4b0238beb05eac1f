package model

import (
	"bytes"
	"cmp"
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// wireResponse is a response without methods, since the library's own decoder parses a chunk
// twice.
type wireResponse genai.GenerateContentResponse

// endOfStream ends the streams of other APIs; some gateways send it for this API, too.
const endOfStream = "[DONE]"

// complete reports whether b is a complete event.
func complete(b []byte) bool { return json.Valid(b) || string(bytes.TrimSpace(b)) == endOfStream }

// decode returns the chunk in b or, if b is an error, its text as fault.
func (d *decoder) decode(b []byte) (chunk *genai.GenerateContentResponse, fault json.RawMessage, err error) {
	if d.wrapped {
		inner, id := unwrapped(b)
		if chunk, fault, err = d.bare(inner); chunk != nil {
			chunk.ResponseID = cmp.Or(chunk.ResponseID, id)
		}
		return chunk, fault, err
	}
	return d.bare(b)
}

// bare decodes a chunk without an envelope.
func (d *decoder) bare(b []byte) (chunk *genai.GenerateContentResponse, fault json.RawMessage, err error) {
	if chunk := d.fastDecode(b); chunk != nil {
		return chunk, nil, nil
	}
	var wire struct {
		wireResponse
		Error json.RawMessage
	}
	if err := text.Unmarshal(b, &wire); err != nil {
		var must essentials
		if text.Unmarshal(b, &must) != nil {
			if inner := withArgs(b); inner != nil {
				return d.bare(inner)
			}
			return nil, nil, err
		}
		must.fill(&wire.wireResponse)
		wire.Error = must.Error
	}
	if len(wire.Error) > 0 && string(wire.Error) != "null" {
		return nil, wire.Error, nil
	}
	chunk = (*genai.GenerateContentResponse)(&wire.wireResponse)
	if bytes.Contains(b, []byte(`"citationSources"`)) {
		addCitations(chunk, b)
	}
	return chunk, nil, nil
}

// essentials has the essential fields of an answer. A count of tokens or a rating of the wrong
// type ("avgLogprobs": "NaN") counts as missing.
type essentials struct {
	Candidates []struct {
		Content           *genai.Content
		FinishReason      genai.FinishReason
		FinishMessage     string
		Index             int32
		ContinuationToken []byte
	}
	PromptFeedback *struct {
		BlockReason        genai.BlockedReason
		BlockReasonMessage string
	}
	Error json.RawMessage
}

// fill copies the essentials into a response whose decoding failed at a value: later values may
// be missing, such as all candidates after an invalid time.
func (e essentials) fill(r *wireResponse) {
	r.Candidates = append(r.Candidates, make([]*genai.Candidate, max(0, len(e.Candidates)-len(r.Candidates)))...)
	for i, c := range e.Candidates {
		out := cmp.Or(r.Candidates[i], new(genai.Candidate))
		out.Content, out.FinishReason, out.FinishMessage = c.Content, c.FinishReason, c.FinishMessage
		out.Index, out.ContinuationToken = c.Index, c.ContinuationToken
		r.Candidates[i] = out
	}
	if f := e.PromptFeedback; f != nil {
		r.PromptFeedback = cmp.Or(r.PromptFeedback, new(genai.GenerateContentResponsePromptFeedback))
		r.PromptFeedback.BlockReason, r.PromptFeedback.BlockReasonMessage = f.BlockReason, f.BlockReasonMessage
	}
}

// withArgs returns b with calls' arguments in strings of JSON, as some servers send them,
// replaced by objects; nil if there are none.
func withArgs(b []byte) []byte {
	var v any
	in := json.NewDecoder(bytes.NewReader(b))
	in.UseNumber()
	if in.Decode(&v) != nil || !decodeArgs(v) {
		return nil
	}
	out, _ := json.Marshal(v) // no error, since v was JSON
	return out
}

// decodeArgs replaces calls' arguments in v that are a string of JSON by the object in the
// string, and reports whether there are any.
func decodeArgs(v any) (found bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			found = decodeArgs(item) || found
		}
	case map[string]any:
		for name, item := range v {
			call, is := item.(map[string]any)
			if !is || name != "functionCall" {
				found = decodeArgs(item) || found
				continue
			}
			var object map[string]any
			if said, _ := call["args"].(string); json.Unmarshal([]byte(said), &object) == nil {
				call["args"], found = json.RawMessage(said), true
			}
		}
	}
	return found
}

// addCitations adds citations, for which the Gemini API and the library use different names.
func addCitations(chunk *genai.GenerateContentResponse, b []byte) {
	var wire struct {
		Candidates []struct {
			CitationMetadata struct{ CitationSources []*genai.Citation }
		}
	}
	if text.Unmarshal(b, &wire) != nil {
		return // an answer without citations is better than an error
	}
	for i, c := range wire.Candidates {
		if s := c.CitationMetadata.CitationSources; len(s) > 0 && i < len(chunk.Candidates) &&
			chunk.Candidates[i] != nil {
			chunk.Candidates[i].CitationMetadata = &genai.CitationMetadata{Citations: s}
		}
	}
}
