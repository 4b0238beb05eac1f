package route

import (
	"context"
	"sync"
	"time"
)

// rest is how long a model is left alone that was at its capacity.
const rest = 30 * time.Second

// A Health says which models can answer, as far as that is known. Conversations share it.
// It is safe for concurrent use.
type Health struct {
	down    sync.Map // until when a model can't answer, a [time.Time]; zero is for good
	sticky  sync.Map // models that failed last time, and get one attempt
	said    sync.Map // what users were told once
	instead sync.Map // what answers for a model that the server does not have

	mu   sync.Mutex
	vain int // how often the classifier has failed since it last answered

	list         sync.Once
	serverModels []string // the models that the server has, nil if it did not say
}

// News reports whether users have not been told something yet, and notes that they are.
func (h *Health) News(text string) bool {
	_, told := h.said.LoadOrStore(text, true)
	return !told
}

// models returns which models the server has, which it is asked once; nil if it does not say.
func (h *Health) models(ctx context.Context, list func(context.Context) ([]string, error)) []string {
	if list == nil {
		return nil
	}
	h.list.Do(func() {
		ctx, stop := context.WithTimeout(ctx, listTimeout)
		defer stop()
		if names, err := list(ctx); err == nil {
			h.serverModels = names
		}
	})
	return h.serverModels
}

// listTimeout is how long a server may take to list its models.
const listTimeout = 5 * time.Second

// Down reports whether a model can't answer.
func (h *Health) Down(model string) bool {
	end, ok := h.down.Load(model)
	until, _ := end.(time.Time)
	return ok && (until.IsZero() || time.Now().Before(until))
}

// Missing notes that the model does not exist.
func (h *Health) Missing(model string) { h.mark(model, missing) }

// stand notes which model answers in the place of a model that the server does not have.
func (h *Health) stand(model, next string) { h.instead.Store(model, next) }

// stands returns the model that answers in the place of a model that the server does not have, ""
// if none is known.
func (h *Health) stands(model string) string {
	next, _ := h.instead.Load(model)
	name, _ := next.(string)
	return name
}

// forget has a model be tried again, and the classifier.
func (h *Health) forget(model string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.vain = 0
	h.down.Delete(model)
	h.sticky.Delete(model)
	h.instead.Delete(model)
}

// mostVain is how often the classifier may fail in a row before prompts no longer wait
// for it.
const mostVain = 2

// classifies reports whether the classifier is worth asking.
func (h *Health) classifies() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.vain < mostVain
}

// classified notes whether the classifier has answered. It reports whether the classifier
// will no longer be asked.
func (h *Health) classified(ok bool) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.vain++; ok {
		h.vain = 0
	}
	return h.vain == mostVain
}

// mark notes why a model has failed.
func (h *Health) mark(model string, why failure) {
	switch why {
	case transient:
		h.sticky.Store(model, true)
	case capacity:
		h.down.Store(model, time.Now().Add(rest))
	default:
		h.down.Store(model, time.Time{})
	}
}

// recovered notes that a model has answered.
func (h *Health) recovered(model string) { h.sticky.Delete(model) }

// failing reports whether a model failed the last time that it was asked.
func (h *Health) failing(model string) bool {
	_, failed := h.sticky.Load(model)
	return failed
}
