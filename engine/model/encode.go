package model

import (
	"bytes"
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine"
)

// A body is the greater part of a request: what is said. It is written here
// and not by the library, which takes every text through maps, drops the text
// key of an empty text (the API refuses such parts) and writes < as \u003c.
type body struct {
	contents []*genai.Content
	system   *genai.Content // nil if there is none
	tools    []*genai.Tool
	schema   any // of the answer; nil if there is none
}

// encode returns the JSON of b, with the keys of rest, which the library has
// made of the settings. Parts that c knows are not encoded again.
func (b body) encode(rest map[string]any, c *cache) ([]byte, error) {
	w := newWriter(c)
	w.WriteString(`{"contents":[`)
	for _, content := range b.contents {
		if content == nil {
			continue
		}
		if err := w.content(content, content.Role); err != nil {
			return nil, err
		}
		w.WriteByte(',')
	}
	w.drop(',')
	w.WriteByte(']')
	if b.system != nil {
		role := b.system.Role
		if role == "" {
			role = genai.RoleUser
		}
		w.WriteString(`,"systemInstruction":`)
		if err := w.content(b.system, role); err != nil {
			return nil, err
		}
	}
	if len(b.tools) > 0 {
		w.WriteString(`,"tools":`)
		if err := w.value(b.tools); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		mark := w.Len()
		if err := w.value(rest); err != nil {
			return nil, err
		}
		w.Bytes()[mark] = ',' // was the opening brace
	} else {
		w.WriteByte('}')
	}
	c.sent(w.Len())
	return w.Bytes(), nil
}

// A writer writes JSON.
type writer struct {
	bytes.Buffer
	enc   *json.Encoder
	cache *cache
}

func newWriter(c *cache) *writer {
	w := &writer{cache: c}
	w.Grow(c.room())
	w.enc = json.NewEncoder(&w.Buffer)
	w.enc.SetEscapeHTML(false)
	return w
}

// value writes v.
func (w *writer) value(v any) error {
	err := w.enc.Encode(v)
	w.drop('\n')
	return err
}

// drop takes back c, if it was written last.
func (w *writer) drop(c byte) {
	if n := w.Len(); n > 0 && w.Bytes()[n-1] == c {
		w.Truncate(n - 1)
	}
}

func (w *writer) content(c *genai.Content, role string) error {
	w.WriteString(`{"parts":[`)
	for _, p := range c.Parts {
		if p == nil {
			continue
		}
		if err := w.part(p); err != nil {
			return err
		}
		w.WriteByte(',')
	}
	w.drop(',')
	w.WriteByte(']')
	switch role {
	case "":
	case genai.RoleUser:
		w.WriteString(`,"role":"user"`)
	case genai.RoleModel:
		w.WriteString(`,"role":"model"`)
	default:
		w.WriteString(`,"role":`)
		if err := w.value(role); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

func (w *writer) part(p *genai.Part) error {
	if known := w.cache.find(p); known != nil {
		w.Write(known)
		return nil
	}
	mark := w.Len()
	var err error
	switch {
	case p.Text == "" && !engine.HasData(p):
		err = w.value(barePart{Thought: p.Thought, ThoughtSignature: p.ThoughtSignature, PartMetadata: p.PartMetadata})
	case silent(p):
		err = w.value(silentPart{silentResponse{ID: p.FunctionResponse.ID, Name: p.FunctionResponse.Name, Parts: p.FunctionResponse.Parts}})
	default:
		err = w.value(p)
	}
	if err == nil {
		w.cache.keep(p, w.Bytes()[mark:])
	}
	return err
}

// A barePart has an empty text and says so.
type barePart struct {
	Text             string         `json:"text"`
	Thought          bool           `json:"thought,omitempty"`
	ThoughtSignature []byte         `json:"thoughtSignature,omitempty"`
	PartMetadata     map[string]any `json:"partMetadata,omitempty"`
}

// A silentPart answers a call with nothing, and says so.
type silentPart struct {
	FunctionResponse silentResponse `json:"functionResponse"`
}

type silentResponse struct {
	ID       string                        `json:"id,omitempty"`
	Name     string                        `json:"name"`
	Response struct{}                      `json:"response"`
	Parts    []*genai.FunctionResponsePart `json:"parts,omitempty"`
}

// silent reports whether p is an answer to a call without a word, whose empty
// object the library's types leave out.
func silent(p *genai.Part) bool {
	return p.FunctionResponse != nil && len(p.FunctionResponse.Response) == 0
}
