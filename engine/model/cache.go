package model

import (
	"bytes"
	"maps"
	"reflect"
	"sync"

	"google.golang.org/genai"
)

// Sizes of a cache.
const (
	worthKeeping = 64       // bytes of a part; a smaller one is quickly encoded
	mostKept     = 16 << 20 // bytes of all parts
)

// A cache keeps the JSON of parts, since every request of a conversation says
// again all that was said before. A part is only taken to be known while it
// holds what it held when it was encoded; of data and signatures, that they are
// the same slice is enough. A nil cache keeps nothing.
type cache struct {
	mu    sync.Mutex
	parts map[*genai.Part]*cachedPart
	size  int
	last  int // bytes of the last request
	known int // secrets that are not in what it keeps
}

// begin forgets all that was kept when fewer secrets were known.
func (c *cache) begin(known int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != known {
		c.parts, c.size, c.known = nil, 0, known
	}
}

// A cachedPart is what a part held when it was encoded.
type cachedPart struct {
	part   genai.Part
	id     string
	name   string
	values map[string]any // arguments or response, none of them changeable
	blob   genai.Blob
	json   []byte
}

// find returns the JSON of p, or nil if it is not known.
func (c *cache) find(p *genai.Part) []byte {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	k := c.parts[p]
	c.mu.Unlock()
	if k != nil && k.same(p) {
		return k.json
	}
	return nil
}

// room returns how many bytes the next request is likely to take.
func (c *cache) room() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last + 4096
}

// sent notes how many bytes a request has taken.
func (c *cache) sent(n int) {
	if c != nil {
		c.mu.Lock()
		c.last = n
		c.mu.Unlock()
	}
}

// keep remembers the JSON of p, of which it makes a copy, if that pays. It was written when
// so many secrets were known, and does not count if there are more by now.
func (c *cache) keep(p *genai.Part, json []byte, known int) {
	if c == nil || len(json) < worthKeeping || len(json) > mostKept/2 {
		return
	}
	k, ok := snapshot(p)
	if !ok {
		return
	}
	k.json = bytes.Clone(json)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != known {
		return
	}
	if c.size += len(json); c.parts == nil || c.size > mostKept {
		c.parts, c.size = map[*genai.Part]*cachedPart{}, len(json)
	}
	c.parts[p] = &k
}

// snapshot returns what p holds, and whether that can be compared later: it is
// text, a call or an answer with simple values, or data, and nothing else.
func snapshot(p *genai.Part) (cachedPart, bool) {
	k, ok := cachedPart{part: *p}, usual(p)
	if fc := p.FunctionCall; fc != nil {
		rest := *fc
		k.id, k.name, k.values = fc.ID, fc.Name, fc.Args
		rest.ID, rest.Name, rest.Args = "", "", nil
		ok = ok && p.FunctionResponse == nil && reflect.ValueOf(rest).IsZero()
	}
	if fr := p.FunctionResponse; fr != nil {
		rest := *fr
		k.id, k.name, k.values = fr.ID, fr.Name, fr.Response
		rest.ID, rest.Name, rest.Response = "", "", nil
		ok = ok && reflect.ValueOf(rest).IsZero()
	}
	if p.InlineData != nil {
		k.blob = *p.InlineData
	}
	for _, v := range k.values {
		switch v.(type) {
		case string, bool, float64, int, nil:
		default:
			return k, false
		}
	}
	k.values = maps.Clone(k.values)
	return k, ok
}

// usual reports whether p holds nothing but what can be compared.
func usual(p *genai.Part) bool {
	rest := *p
	rest.Text, rest.Thought, rest.ThoughtSignature = "", false, nil
	rest.FunctionCall, rest.FunctionResponse, rest.InlineData = nil, nil, nil
	return reflect.ValueOf(&rest).Elem().IsZero()
}

// same reports whether p still holds what k shows. Equal texts are usually
// the same text, which takes no time to see.
func (k *cachedPart) same(p *genai.Part) bool {
	if p.Text != k.part.Text || p.Thought != k.part.Thought || !bytes.Equal(p.ThoughtSignature, k.part.ThoughtSignature) ||
		p.FunctionCall != k.part.FunctionCall || p.FunctionResponse != k.part.FunctionResponse || p.InlineData != k.part.InlineData || !usual(p) {
		return false
	}
	if fc := p.FunctionCall; fc != nil {
		return fc.ID == k.id && fc.Name == k.name && fc.PartialArgs == nil && fc.WillContinue == nil && equal(fc.Args, k.values)
	}
	if fr := p.FunctionResponse; fr != nil {
		return fr.ID == k.id && fr.Name == k.name && fr.Parts == nil && fr.WillContinue == nil && fr.Scheduling == "" && equal(fr.Response, k.values)
	}
	if b := p.InlineData; b != nil {
		return b.MIMEType == k.blob.MIMEType && b.DisplayName == k.blob.DisplayName && bytes.Equal(b.Data, k.blob.Data)
	}
	return true
}

// equal reports whether m holds the values of simple, which are all of types
// that can be compared.
func equal(m, simple map[string]any) bool {
	if len(m) != len(simple) {
		return false
	}
	for name, v := range simple {
		if w, ok := m[name]; !ok || w != v {
			return false
		}
	}
	return true
}
