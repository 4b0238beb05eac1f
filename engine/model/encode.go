package model

import (
	"bytes"
	"cmp"
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
	"gemline/engine/redact/wrap"
)

// A body is what a request says. It is written here and not by the library, which
// takes every text through maps, drops the text key of an empty text (the API
// refuses such parts), loses the order of a schema's properties, in which the
// model is to write them, and writes < as \u003c.
type body struct {
	contents []*genai.Content
	config   *genai.GenerateContentConfig // nil if there is none
	redact   *redact.Redactor             // takes secrets out of all that is said; may be nil
}

// encode returns the JSON of b. Parts that c knows are not encoded again.
func (b body) encode(c *cache) ([]byte, error) {
	w := newWriter(c)
	w.redact, w.known = b.redact, b.redact.Count()
	c.begin(w.known)
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
	if b.config != nil {
		if err := w.config(*b.config); err != nil {
			return nil, err
		}
	}
	w.WriteByte('}')
	c.sent(w.Len())
	return w.Bytes(), nil
}

// config writes the settings of a request. Those that are no settings of the
// answer stand beside them.
func (w *writer) config(c genai.GenerateContentConfig) error {
	if system := c.SystemInstruction; system != nil {
		w.WriteString(`,"systemInstruction":`)
		if err := w.content(system, cmp.Or(system.Role, genai.RoleUser)); err != nil {
			return err
		}
	}
	parts := []struct {
		name  string
		value any
		has   bool
	}{
		{"tools", c.Tools, len(c.Tools) > 0},
		{"toolConfig", c.ToolConfig, c.ToolConfig != nil},
		{"safetySettings", c.SafetySettings, len(c.SafetySettings) > 0},
		{"cachedContent", c.CachedContent, c.CachedContent != ""},
		{"labels", c.Labels, len(c.Labels) > 0},
		{"serviceTier", c.ServiceTier, c.ServiceTier != ""},
		{"generationConfig", &c, true},
	}
	c.SystemInstruction, c.Tools, c.ToolConfig, c.SafetySettings, c.CachedContent, c.Labels, c.ServiceTier = nil, nil, nil, nil, "", nil, ""
	c.HTTPOptions, c.AutomaticContinuation = nil, nil // which are for the library's client
	for _, p := range parts {
		if p.has {
			w.WriteString(`,"` + p.name + `":`)
			if err := w.value(p.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// A writer writes JSON.
type writer struct {
	bytes.Buffer
	enc    *json.Encoder
	cache  *cache
	redact *redact.Redactor
	known  int // secrets, when it began
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
	mark, given := w.Len(), p
	p = wrap.Part(p, w.redact.Known)
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
		w.cache.keep(given, w.Bytes()[mark:], w.known)
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
