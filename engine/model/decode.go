package model

import (
	"bytes"
	"cmp"
	"encoding/json"

	"google.golang.org/genai"
)

// wireResponse is a response without methods: the library's own decoder goes over the
// text of a chunk twice.
type wireResponse genai.GenerateContentResponse

// endOfStream ends the streams of other APIs; some gateways send it here too.
const endOfStream = "[DONE]"

// complete reports whether b is a whole event.
func complete(b []byte) bool { return json.Valid(b) || string(bytes.TrimSpace(b)) == endOfStream }

// decode returns the chunk that b is. If b is an error instead, its text
// is returned as fault.
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
	if err := json.Unmarshal(b, &wire); err != nil {
		var must essentials
		if json.Unmarshal(b, &must) != nil {
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

// essentials is what an answer depends on. A count of tokens or a rating of another type
// ("avgLogprobs": "NaN") counts as not given.
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

// fill puts the essentials into a response whose decoding failed at a value: values behind it may
// be missing, such as all candidates behind a time that is none.
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

// withArgs returns b with an object in the place of each call's arguments that are a string of
// JSON, as some servers send them; nil if there are none.
func withArgs(b []byte) []byte {
	var v any
	in := json.NewDecoder(bytes.NewReader(b))
	in.UseNumber()
	if in.Decode(&v) != nil || !decodeArgs(v) {
		return nil
	}
	out, _ := json.Marshal(v) // v was decoded from JSON, so that no error is possible
	return out
}

// decodeArgs replaces arguments of the calls in v that are a string of JSON by the object in the
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

// addCitations fills in what the Gemini API names otherwise than the library.
func addCitations(chunk *genai.GenerateContentResponse, b []byte) {
	var wire struct {
		Candidates []struct {
			CitationMetadata struct{ CitationSources []*genai.Citation }
		}
	}
	if json.Unmarshal(b, &wire) != nil {
		return // citations are not worth an answer
	}
	for i, c := range wire.Candidates {
		if s := c.CitationMetadata.CitationSources; len(s) > 0 && i < len(chunk.Candidates) &&
			chunk.Candidates[i] != nil {
			chunk.Candidates[i].CitationMetadata = &genai.CitationMetadata{Citations: s}
		}
	}
}
