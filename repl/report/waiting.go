package report

import (
	"context"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/tally"
)

// longSilence is the silence after which a notice is printed, and its interval.
const longSilence = time.Minute

// WithWaitingNotices returns a Run around another that reports, once a minute, how long the model
// has sent nothing. Tell is called on another goroutine. Heard, if not nil, returns the time of the
// last data from the model's server.
func WithWaitingNotices(run engine.Run, heard func() time.Time, tell func(engine.Event)) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		w := watch{heard: heard, tell: tell, over: make(chan struct{})}
		var watching sync.WaitGroup
		watching.Go(w.run)
		defer watching.Wait()
		defer close(w.over)
		for ev, err := range run(ctx, parts...) {
			w.see(ev)
			if !yield(ev, err) {
				return
			}
		}
	})
}

// A watch measures the model's silence.
type watch struct {
	heard func() time.Time
	tell  func(engine.Event)
	over  chan struct{}

	mu    sync.Mutex
	since time.Time // zero while no answer is awaited
}

// see handles an event.
func (w *watch) see(ev engine.Event) {
	since := time.Now()
	switch ev := ev.(type) {
	case engine.RequestStarted, engine.Text, engine.Thought:
	case engine.Retry:
		since = since.Add(ev.Delay)
	case engine.Notice, engine.NestedEvent, engine.Usage: // these may come at any time
		return
	default:
		since = time.Time{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = since
}

// silence returns the length of the silence, 0 if no answer is awaited.
func (w *watch) silence() time.Duration {
	w.mu.Lock()
	since := w.since
	w.mu.Unlock()
	if since.IsZero() {
		return 0
	}
	if w.heard != nil {
		if at := w.heard(); at.After(since) {
			since = at
		}
	}
	return time.Since(since)
}

func (w *watch) run() {
	timer := time.NewTimer(longSilence)
	defer timer.Stop()
	for {
		select {
		case <-w.over:
			return
		case <-timer.C:
		}
		silence := w.silence()
		if silence >= longSilence {
			w.tell(engine.Notice{Text: "waiting for the model, nothing has come for " + tally.Duration(silence), Info: true})
		}
		timer.Reset(longSilence - max(0, silence)%longSilence)
	}
}
