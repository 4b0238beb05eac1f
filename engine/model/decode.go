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

// bare decodes what is in no envelope.
func (d *decoder) bare(b []byte) (chunk *genai.GenerateContentResponse, fault json.RawMessage, err error) {
	if chunk := d.fastDecode(b); chunk != nil {
		return chunk, nil, nil
	}
	var wire struct {
		wireResponse
		Error json.RawMessage
	}
	if err := json.Unmarshal(b, &wire); err != nil && !readable(b) {
		return nil, nil, err
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

// readable reports whether b can be read as far as the answer depends on it. A count of tokens or a
// rating of another type ("avgLogprobs": "NaN") counts as not given.
func readable(b []byte) bool {
	var wire struct {
		Candidates []struct {
			Content       *genai.Content
			FinishReason  genai.FinishReason
			FinishMessage string
			Index         int32
		}
		PromptFeedback    *genai.GenerateContentResponsePromptFeedback
		ContinuationToken []byte
		Error             json.RawMessage
	}
	return json.Unmarshal(b, &wire) == nil
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
