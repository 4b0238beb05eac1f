package route

import (
	"sync"
	"time"
)

// rest is how long a model is left alone that was at its capacity.
const rest = 30 * time.Second

// A Health says which models can answer, as far as that is known. Conversations share it.
// It is safe for concurrent use.
type Health struct {
	mu     sync.Mutex
	down   map[string]time.Time // until when a model can't answer; zero is for good
	sticky map[string]bool      // models that failed last time, and get one attempt
}

// Down reports whether a model can't answer.
func (h *Health) Down(model string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	until, ok := h.down[model]
	return ok && (until.IsZero() || time.Now().Before(until))
}

// Forget has a model be tried again.
func (h *Health) Forget(model string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.down, model)
	delete(h.sticky, model)
}

// mark notes why a model has failed.
func (h *Health) mark(model string, why failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down == nil {
		h.down, h.sticky = map[string]time.Time{}, map[string]bool{}
	}
	switch why {
	case transient:
		h.sticky[model] = true
	case capacity:
		h.down[model] = time.Now().Add(rest)
	default:
		h.down[model] = time.Time{}
	}
}

// failing reports whether a model failed the last time that it was asked.
func (h *Health) failing(model string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sticky[model]
}
