package model

import (
	"sync"

	"google.golang.org/genai"
)

// mostKept is how many bytes of JSON a cache keeps.
const mostKept = 16 << 20

// A cache keeps the JSON of messages, since every request of a conversation says
// again all that was said before. A message is known by where it is: what a request
// of a conversation has said is replaced later, and never changed. A nil cache
// keeps nothing.
type cache struct {
	mu       sync.Mutex
	messages map[*genai.Content][]byte // each behind a comma
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

// find returns the JSON of m behind a comma, or nil if it is not known.
func (c *cache) find(m *genai.Content) []byte {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.messages[m]
}

// store stores a copy of the JSON of m, which was redacted with known secrets. If the number
// of secrets has changed since, keep does nothing.
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
