package telemetry

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"gemline/engine/text"
)

// A Session describes the session of a Recorder.
type Session struct {
	ID    string
	Attrs []slog.Attr // of all its events and metrics

	// Model returns the attributes of a model's provider and server.
	Model []slog.Attr

	// Class names the class of a failed request and its HTTP status, 0 if there is
	// none. The class is "" if no request was made.
	Class func(error) (class string, status int)
}

// A Recorder records what one session does. It may be used concurrently.
type Recorder struct {
	session          Session
	provider         *Provider
	resource, common []slog.Attr
	prompts, large   bool // a target gets messages, and whole conversations

	mu      sync.Mutex
	series  []*series
	prompt  string // the id of the current prompt
	serial  int    // prompts so far
	current spanContext
}

// Prompts returns how many prompts there have been.
func (r *Recorder) Prompts() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.serial
}

// Close ends the session.
func (r *Recorder) Close() {
	if r == nil {
		return
	}
	r.provider.forget(r)
	r.each(item{of: r, metrics: r.metrics()}, 0)
}

func (r *Recorder) each(i item, size int) {
	for _, l := range r.provider.pipelines {
		l.put(i, size)
	}
}

// Log records an event, with the current time if it has none.
func (r *Recorder) Log(ev Event) {
	if r == nil {
		return
	}
	if ev.Time.IsZero() {
		ev.Time = time.Now()
	}
	if ev.within == (spanContext{}) {
		_, ev.within = r.now()
	}
	size := len(ev.Body) + sizeOf(ev.Attrs) + sizeOf(ev.Private) + sizeOf(ev.Large)
	r.each(item{of: r, event: &ev}, size)
}

// end records a span that has ended.
func (r *Recorder) end(s Span, err error) {
	s.End = time.Now()
	if err != nil {
		s.Error = err.Error()
	}
	s.Attrs = append([]slog.Attr{slog.String("gen_ai.operation.name", s.Name), slog.String("gen_ai.agent.name", Name),
		slog.String("gen_ai.agent.description", "A coding agent for plain terminals."),
		slog.String("gen_ai.conversation.id", r.session.ID)}, s.Attrs...)
	r.each(item{of: r, span: &s}, sizeOf(s.Attrs)+sizeOf(s.Large))
}

// begin returns a new span within another span.
func (r *Recorder) begin(name string, within spanContext) Span {
	s := Span{Name: name, Start: time.Now(), spanContext: within, Parent: within.ID}
	if s.Trace == (TraceID{}) {
		rand.Read(s.Trace[:])
	}
	rand.Read(s.ID[:])
	return s
}

// now returns the id and the span of the current prompt.
func (r *Recorder) now() (prompt string, span spanContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.prompt, r.current
}

// next starts the next prompt.
func (r *Recorder) next(span spanContext) (prompt string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	r.prompt, r.current = fmt.Sprintf("%s########%d", r.session.ID, r.serial), span
	return r.prompt
}

// Name is the program's name in records, as dashboards expect it.
const Name = "gemini-cli"

// sizeOf returns roughly how many bytes attributes take.
func sizeOf(attrs []slog.Attr) (n int) {
	for _, a := range attrs {
		n += 32
		if a.Value.Kind() == slog.KindString {
			n += len(a.Value.String())
		}
	}
	return n
}

// millis is an attribute that is a number of milliseconds.
func millis(key string, d time.Duration) slog.Attr { return slog.Int64(key, d.Milliseconds()) }

// stated returns the attributes of an error, under the usual names.
func stated(err error, class string) []slog.Attr {
	attrs := []slog.Attr{slog.String("error", err.Error()), slog.String("error.message", err.Error())}
	if class != "" {
		attrs = append(attrs, slog.String("error_type", class), slog.String("error.type", class))
	}
	return attrs
}

// asJSON returns v as a string of JSON.
func asJSON(v any) string {
	b, err := text.JSON(v, "")
	if err != nil {
		return "{}"
	}
	return string(b)
}
