package model

import (
	"bytes"
	"reflect"
	"sync"

	"google.golang.org/genai"
)

// mostKept is how many bytes of JSON a cache keeps.
const mostKept = 16 << 20

// A cache keeps the JSON of messages, since every request of a conversation says
// again all that was said before. A message is only taken to be known while it
// holds what it held when it was encoded; of arguments, responses, data and
// signatures, that they are the same map or slice is enough, since what stands in a
// history is replaced and not changed. A nil cache keeps nothing.
type cache struct {
	mu       sync.Mutex
	messages map[*genai.Content]*cachedMessage
	size     int
	known    int // secrets that are not in what it keeps
}

// begin forgets all that was kept when fewer secrets were known.
func (c *cache) begin(known int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != known {
		c.messages, c.size, c.known = nil, 0, known
	}
}

// find returns the JSON of m behind a comma, or nil if it is not known.
func (c *cache) find(m *genai.Content, role string) []byte {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	k := c.messages[m]
	c.mu.Unlock()
	if k != nil && k.role == role && k.same(m) {
		return k.json
	}
	return nil
}

// keep remembers the JSON of m, of which it makes a copy. It was written when so
// many secrets were known, and does not count if there are more by now.
func (c *cache) keep(m *genai.Content, role string, json []byte, known int) {
	if c == nil || len(json) > mostKept/2 {
		return
	}
	k := &cachedMessage{role: role, parts: make([]cachedPart, len(m.Parts))}
	for i, p := range m.Parts {
		if !k.parts[i].take(p) {
			return
		}
	}
	k.json = append([]byte{','}, json...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != known {
		return
	}
	if c.size += len(json); c.messages == nil || c.size > mostKept {
		c.messages, c.size = map[*genai.Content]*cachedMessage{}, len(json)
	}
	c.messages[m] = k
}

// A cachedMessage is what a message held when it was encoded.
type cachedMessage struct {
	role  string
	parts []cachedPart
	json  []byte // behind a comma
}

func (k *cachedMessage) same(m *genai.Content) bool {
	if len(m.Parts) != len(k.parts) {
		return false
	}
	for i := range k.parts {
		if !k.parts[i].same(m.Parts[i]) {
			return false
		}
	}
	return true
}

// A cachedPart is what a part held when its message was encoded.
type cachedPart struct {
	from     *genai.Part // nil for a part that is none
	part     genai.Part
	call     genai.FunctionCall
	response genai.FunctionResponse
	blob     genai.Blob
}

// take notes what p holds, and reports whether that can be compared later: it is
// text, a call, an answer or data, and nothing else.
func (k *cachedPart) take(p *genai.Part) bool {
	if k.from = p; p == nil {
		return true
	}
	k.part = *p
	if p.FunctionCall != nil {
		k.call = *p.FunctionCall
	}
	if p.FunctionResponse != nil {
		k.response = *p.FunctionResponse
	}
	if p.InlineData != nil {
		k.blob = *p.InlineData
	}
	return usual(p) && k.call.PartialArgs == nil && k.response.Parts == nil
}

// usual reports whether p holds nothing but what a cachedPart compares.
func usual(p *genai.Part) bool {
	return p.MediaResolution == nil && p.CodeExecutionResult == nil && p.ExecutableCode == nil && p.FileData == nil &&
		p.VideoMetadata == nil && p.ToolCall == nil && p.ToolResponse == nil && p.PartMetadata == nil &&
		p.AudioTranscription == nil && p.MediaProcessing == "" && p.SpeechMetadata == nil
}

// same reports whether p still holds what k shows. Equal texts are usually
// the same text, which takes no time to see.
func (k *cachedPart) same(p *genai.Part) bool {
	if p != k.from {
		return false
	}
	if p == nil {
		return true
	}
	if p.Text != k.part.Text || p.Thought != k.part.Thought || !bytes.Equal(p.ThoughtSignature, k.part.ThoughtSignature) ||
		p.FunctionCall != k.part.FunctionCall || p.FunctionResponse != k.part.FunctionResponse || p.InlineData != k.part.InlineData || !usual(p) {
		return false
	}
	if c, was := p.FunctionCall, &k.call; c != nil &&
		(c.ID != was.ID || c.Name != was.Name || c.PartialArgs != nil || c.WillContinue != was.WillContinue || !sameMap(c.Args, was.Args)) {
		return false
	}
	if r, was := p.FunctionResponse, &k.response; r != nil && (r.ID != was.ID || r.Name != was.Name || r.Parts != nil ||
		r.WillContinue != was.WillContinue || r.Scheduling != was.Scheduling || !sameMap(r.Response, was.Response)) {
		return false
	}
	b, was := p.InlineData, &k.blob
	return b == nil || b.MIMEType == was.MIMEType && b.DisplayName == was.DisplayName && bytes.Equal(b.Data, was.Data)
}

// sameMap reports whether a and b are one map.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}
