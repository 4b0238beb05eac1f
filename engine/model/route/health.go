package route

import (
	"context"
	"sync"
	"time"
)

// rest is how long a model at its capacity is not asked.
const rest = 30 * time.Second

// A Health knows which models can't answer. Conversations share it. It is safe for concurrent
// use.
type Health struct {
	down    sync.Map // until when a model can't answer, a [time.Time]; zero is for good
	sticky  sync.Map // models that failed at the last request, and get one attempt
	said    sync.Map // messages that users know
	instead sync.Map // replacements of models that the server lacks

	mu                 sync.Mutex
	classifierFailures int // failures of the classifier since its last answer

	list         sync.Once
	serverModels []string // the server's models, nil if unknown
}

// News reports whether a message is new to users, and records it.
func (h *Health) News(text string) bool {
	_, told := h.said.LoadOrStore(text, true)
	return !told
}

// models returns the server's models, nil if unknown. It asks the server once.
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

// stand records the replacement of a model that the server lacks.
func (h *Health) stand(model, next string) { h.instead.Store(model, next) }

// stands returns the replacement of a model that the server lacks, "" if unknown.
func (h *Health) stands(model string) string {
	next, _ := h.instead.Load(model)
	name, _ := next.(string)
	return name
}

// forget clears the state of a model and of the classifier.
func (h *Health) forget(model string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.classifierFailures = 0
	h.down.Delete(model)
	h.sticky.Delete(model)
	h.instead.Delete(model)
}

// maxClassifierFailures is how often the classifier may fail in a row before it is no longer
// asked.
const maxClassifierFailures = 2

// classifies reports whether the classifier should be asked.
func (h *Health) classifies() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.classifierFailures < maxClassifierFailures
}

// classified records whether the classifier has answered. It reports whether the classifier will
// no longer be asked.
func (h *Health) classified(ok bool) (last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.classifierFailures++; ok {
		h.classifierFailures = 0
	}
	return h.classifierFailures == maxClassifierFailures
}

// mark records the failure of a model.
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

// recovered records that a model has answered.
func (h *Health) recovered(model string) { h.sticky.Delete(model) }

// failing reports whether a model failed at the last request.
func (h *Health) failing(model string) bool {
	_, failed := h.sticky.Load(model)
	return failed
}
