package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
	"gemline/engine/redact/wrap"
)

// A body is the content of a request. The library's encoder is not used: it copies every text
// through maps, drops the text key of an empty text (the API refuses such parts), loses the order
// of a schema's properties, which the model should keep, and writes < as \u003c.
type body struct {
	contents []*genai.Content
	config   *genai.GenerateContentConfig // nil if there is none
	redact   *redact.Redactor             // removes secrets from all texts; may be nil
}

// encode returns the JSON of b. Messages in c are not encoded again.
func (b body) encode(c *cache) (buffers, error) {
	w := newWriter(c)
	w.buffers = make(buffers, 0, len(b.contents)+4)
	w.redact, w.known = b.redact, b.redact.Count()
	c.begin(w.known)
	w.write(`{"contents":[`)
	first := true
	for _, content := range b.contents {
		if content == nil {
			continue
		}
		if err := w.message(content, first); err != nil {
			return nil, err
		}
		first = false
	}
	w.write("]")
	if b.config != nil {
		if err := w.config(*b.config); err != nil {
			return nil, err
		}
	}
	w.write("}")
	w.cut()
	return w.buffers, nil
}

// The buffers are a text in immutable parts, so that requests can share parts without copies.
type buffers [][]byte

func (p buffers) size() (n int) {
	for _, b := range p {
		n += len(b)
	}
	return n
}

func (p buffers) text() []byte { return bytes.Join(p, nil) }

// reader returns a reader of p from the beginning.
func (p buffers) reader() io.ReadCloser {
	rest := net.Buffers(slices.Clone(p))
	return io.NopCloser(&rest)
}

// config writes the settings of a request: the settings of the answer in generationConfig, and
// the others beside it.
func (w *writer) config(c genai.GenerateContentConfig) error {
	if system := c.SystemInstruction; system != nil {
		w.write(`,"systemInstruction":`)
		if err := w.content(system, cmp.Or(system.Role, genai.RoleUser)); err != nil {
			return err
		}
	}
	parts := []struct {
		name  string
		value any
		has   bool
	}{
		{"toolConfig", c.ToolConfig, c.ToolConfig != nil},
		{"safetySettings", c.SafetySettings, len(c.SafetySettings) > 0},
		{"cachedContent", c.CachedContent, c.CachedContent != ""},
		{"labels", c.Labels, len(c.Labels) > 0},
		{"serviceTier", c.ServiceTier, c.ServiceTier != ""},
		{"continuationToken", c.ContinuationToken, len(c.ContinuationToken) > 0},
		{"store", c.Store, c.Store != nil},
		{"modelArmorConfig", c.ModelArmorConfig, c.ModelArmorConfig != nil},
		{"outputConfig", c.GenerationOutputConfig, c.GenerationOutputConfig != nil},
	}
	if err := w.tools(c.Tools); err != nil {
		return err
	}
	c.SystemInstruction, c.Tools, c.ToolConfig, c.SafetySettings, c.CachedContent, c.Labels, c.ServiceTier = nil, nil, nil, nil, "", nil, ""
	c.ContinuationToken, c.Store, c.ModelArmorConfig, c.GenerationOutputConfig = nil, nil, nil, nil
	c.HTTPOptions, c.AutomaticContinuation = nil, nil // for the library's client only
	for _, p := range parts {
		if p.has {
			w.write(`,"` + p.name + `":`)
			if err := w.value(p.value); err != nil {
				return err
			}
		}
	}
	w.write(`,"generationConfig":`)
	return w.fields(reflect.ValueOf(c))
}

// tools writes the tools, if there are any.
func (w *writer) tools(tools []*genai.Tool) error {
	begin := `,"tools":[`
	for _, t := range tools {
		w.write(begin)
		if err := w.fields(reflect.ValueOf(*cmp.Or(t, &genai.Tool{}))); err != nil {
			return err
		}
		begin = ","
	}
	if len(tools) > 0 {
		w.write("]")
	}
	return nil
}

// A writer writes JSON.
type writer struct {
	buffers buffers
	buf     []byte // the next piece
	enc     *json.Encoder
	cache   *cache
	redact  *redact.Redactor
	known   int // the number of secrets at the beginning
}

func newWriter(c *cache) *writer {
	w := &writer{cache: c, buf: make([]byte, 0, 16<<10)}
	w.enc = json.NewEncoder(w)
	w.enc.SetEscapeHTML(false)
	return w
}

func (w *writer) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

func (w *writer) write(s string) { w.buf = append(w.buf, s...) }

// cut ends a piece. The next piece follows in the same memory.
func (w *writer) cut() {
	if n := len(w.buf); n > 0 {
		w.buffers = append(w.buffers, w.buf[:n:n])
		w.buf = w.buf[n:]
	}
}

// value writes v.
func (w *writer) value(v any) error {
	err := w.enc.Encode(v)
	w.buf = bytes.TrimSuffix(w.buf, []byte("\n"))
	return err
}

// fields writes a struct without its empty fields. encoding/json would first analyze the types of
// all fields, which delays the start.
func (w *writer) fields(v reflect.Value) error {
	comma := "{"
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 || f.Kind() == reflect.Map && f.Len() == 0 {
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		w.write(comma + `"` + name + `":`)
		if err := w.value(f.Interface()); err != nil {
			return err
		}
		comma = ","
	}
	w.write(strings.TrimPrefix(comma, ",") + "}")
	return nil
}

// message writes c, from the cache or anew, after a comma unless it is the first.
func (w *writer) message(c *genai.Content, first bool) error {
	if known := w.cache.find(c); known != nil {
		w.cut()
		if first {
			known = known[len(","):]
		}
		w.buffers = append(w.buffers, known)
		return nil
	}
	if !first {
		w.write(",")
	}
	mark := len(w.buf)
	if err := w.content(c, c.Role); err != nil {
		return err
	}
	w.cache.store(c, w.buf[mark:], w.known)
	return nil
}

// content writes c, a message of role.
func (w *writer) content(c *genai.Content, role string) error {
	w.write(`{"parts":[`)
	comma := ""
	for _, p := range c.Parts {
		if p == nil || engine.IsSignedThought(p) { // to another provider
			continue
		}
		w.write(comma)
		comma = ","
		if err := w.part(p); err != nil {
			return err
		}
	}
	w.write("]")
	switch role {
	case "":
	case genai.RoleUser:
		w.write(`,"role":"user"`)
	case genai.RoleModel:
		w.write(`,"role":"model"`)
	default:
		w.write(`,"role":`)
		if err := w.value(role); err != nil {
			return err
		}
	}
	w.write("}")
	return nil
}

func (w *writer) part(p *genai.Part) error {
	p = wrap.Part(p, w.redact.RedactKnown)
	switch {
	case p.Text == "" && !engine.HasData(p):
		return w.value(emptyTextPart{Thought: p.Thought, ThoughtSignature: p.ThoughtSignature, PartMetadata: p.PartMetadata})
	case silent(p):
		return w.value(silentPart{silentResponse{ID: p.FunctionResponse.ID,
			Name: p.FunctionResponse.Name, Parts: p.FunctionResponse.Parts}})
	}
	return w.value(p)
}

// An emptyTextPart is a part whose empty text is encoded.
type emptyTextPart struct {
	Text             string         `json:"text"`
	Thought          bool           `json:"thought,omitempty"`
	ThoughtSignature []byte         `json:"thoughtSignature,omitempty"`
	PartMetadata     map[string]any `json:"partMetadata,omitempty"`
}

// A silentPart is a part whose empty answer to a call is encoded.
type silentPart struct {
	FunctionResponse silentResponse `json:"functionResponse"`
}

type silentResponse struct {
	ID       string                        `json:"id,omitempty"`
	Name     string                        `json:"name"`
	Response struct{}                      `json:"response"`
	Parts    []*genai.FunctionResponsePart `json:"parts,omitempty"`
}

// silent reports whether p is an empty answer to a call, whose empty object the library's types
// omit.
func silent(p *genai.Part) bool {
	return p.FunctionResponse != nil && len(p.FunctionResponse.Response) == 0
}
