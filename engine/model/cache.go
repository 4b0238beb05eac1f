package model

import (
	"sync"

	"google.golang.org/genai"
)

// mostKept is the maximum size of a cache, in bytes of JSON.
const mostKept = 16 << 20

// A cache stores the JSON of messages, since every request of a conversation repeats all earlier
// messages. Its key is the pointer to a message: a sent message may be replaced, but never
// changes. A nil cache stores nothing.
type cache struct {
	mu       sync.Mutex
	messages map[*genai.Content][]byte // each after a comma
	size     int
	known    int // how many secrets were known when messages were redacted
}

// begin drops the stored JSON if the number of known secrets has changed.
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

// find returns the stored JSON of m after a comma, or nil.
func (c *cache) find(m *genai.Content) []byte {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.messages[m]
}

// store stores a copy of the JSON of m, which was redacted with known secrets. If the number of
// secrets has changed since, store does nothing.
func (c *cache) store(m *genai.Content, json []byte, known int) {
	if c == nil || len(json) > mostKept/2 {
		return
	}
	json = append([]byte{','}, json...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known != known {
		return
	}
	if c.size += len(json); c.messages == nil || c.size > mostKept {
		c.messages, c.size = map[*genai.Content][]byte{}, len(json)
	}
	c.messages[m] = json
}
