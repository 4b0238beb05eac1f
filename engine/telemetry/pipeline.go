package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gemline/engine/text"
)

// How often records are exported, and how many may wait. A record with long texts counts by its
// bytes.
const (
	interval        = time.Second
	metricsInterval = 10 * time.Second
	patience        = 10 * time.Second // with one batch
	maxItems        = 4096
	maxBytes        = 32 << 20
	maxBatch        = 2 << 20 // collectors take 4 MB at a time
)

// errSlow is the error of an Exporter that timed out.
var errSlow = errors.New("it takes too long")

// A pipeline exports records to one Target.
type pipeline struct {
	Target
	provider *Provider
	trouble  atomic.Pointer[string] // an unreported error
	wake     chan struct{}          // an export is due
	ending   chan struct{}          // the program ends
	ended    chan struct{}
	ctx      context.Context // of exports
	cancel   context.CancelCauseFunc

	backlog backlog

	telling sync.Once // of the first error

	// Used only by the goroutine.
	failing  bool
	measured time.Time
}

// A backlog is a queue of records to export. It is safe for concurrent use.
type backlog struct {
	mu      sync.Mutex
	queue   []item
	bytes   int
	due     bool // an export of the metrics is due
	dropped int
}

// An item is a record and its Recorder.
type item struct {
	of      *Recorder
	event   *Event
	span    *Span
	metrics []Metric // of a session that has ended
	size    int      // in bytes, roughly
}

func startPipeline(p *Provider, t Target) *pipeline {
	l := &pipeline{Target: t, provider: p, wake: make(chan struct{}, 1), ending: make(chan struct{}),
		ended: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	go l.run()
	return l
}

// put adds a record to the queue, if there is room.
func (l *pipeline) put(i item, size int) {
	if i.size = size; l.backlog.add(i) {
		l.rouse()
	}
}

// add adds a record, if there is room, and reports whether the queue is long.
func (b *backlog) add(i item) (much bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) >= maxItems || b.bytes+i.size > maxBytes {
		b.dropped++
		return false
	}
	b.queue = append(b.queue, i)
	b.bytes += i.size
	return len(b.queue) > maxItems/4 || b.bytes > maxBytes/8
}

// take empties the queue and returns its records.
func (b *backlog) take() (queue []item, due bool, dropped int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue, due, dropped = b.queue, b.due, b.dropped
	b.queue, b.bytes, b.due, b.dropped = nil, 0, false, 0
	return queue, due, dropped
}

// measure has the metrics exported at once.
func (l *pipeline) measure() {
	l.backlog.mu.Lock()
	l.backlog.due = true
	l.backlog.mu.Unlock()
	l.rouse()
}

func (l *pipeline) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *pipeline) run() {
	defer close(l.ended)
	defer l.Exporter.Close()
	defer func() {
		if v := recover(); v != nil {
			l.fail(fmt.Errorf("a bug in gemline: %v", v))
		}
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		last := false
		select {
		case <-tick.C:
		case <-l.wake:
		case <-l.ending:
			last = true
		}
		if !last || !l.failing {
			l.flush(last)
		}
		if last {
			return
		}
	}
}

// close exports the rest, within the time limit.
func (l *pipeline) close() {
	close(l.ending)
	late := time.AfterFunc(l.Grace, func() { l.cancel(errSlow) })
	defer late.Stop()
	defer l.cancel(nil)
	select {
	case <-l.ended:
	case <-time.After(l.Grace + l.Grace/10): // the Exporter ignores the cancellation
		l.fail(errSlow)
	}
}

// flush exports the queue, and the metrics if they are due.
func (l *pipeline) flush(last bool) {
	queue, due, dropped := l.backlog.take()
	if now := time.Now(); !l.Only && (due || last || now.Sub(l.measured) >= metricsInterval) {
		l.measured = now
		for _, r := range l.provider.recorders() {
			queue = append(queue, item{of: r, metrics: r.metrics()})
		}
	}
	if dropped > 0 {
		l.fail(fmt.Errorf("%d records found no room", dropped))
	}
	for len(queue) > 0 {
		n, bytes := 1, queue[0].size
		for n < len(queue) && queue[n].of == queue[0].of && bytes+queue[n].size <= maxBatch {
			bytes += queue[n].size
			n++
		}
		l.export(queue[0].of, queue[:n])
		queue = queue[n:]
	}
}

func (l *pipeline) export(r *Recorder, items []item) {
	b := &Batch{Resource: r.resource, Version: l.provider.cfg.Version}
	for _, i := range items {
		switch {
		case i.event != nil:
			b.Events = append(b.Events, l.event(r, *i.event))
		case l.Only:
		case i.span != nil:
			b.Spans = append(b.Spans, l.span(*i.span))
		default:
			b.Metrics = append(b.Metrics, l.metrics(r, i.metrics)...)
		}
	}
	if len(b.Events)+len(b.Spans)+len(b.Metrics) == 0 {
		return
	}
	ctx, cancel := context.WithTimeoutCause(l.ctx, patience, errSlow)
	defer cancel()
	err := l.Export(ctx, b)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if l.failing = err != nil; l.failing {
		l.fail(err)
	}
}

// fail stores the first error.
func (l *pipeline) fail(err error) {
	l.telling.Do(func() {
		said := l.provider.cfg.Redact(fmt.Sprintf("%s: %v", l.Trouble, err))
		l.trouble.Store(&said)
	})
}

// event returns ev in the form for the Target.
func (l *pipeline) event(r *Recorder, ev Event) Event {
	attrs := slices.Concat(r.common, []slog.Attr{slog.String("event.name", ev.Name),
		slog.String("event.timestamp", text.Timestamp(ev.Time))}, ev.Attrs)
	if l.Prompts {
		for _, a := range ev.Private {
			attrs = slices.DeleteFunc(attrs, func(public slog.Attr) bool { return public.Key == a.Key })
			attrs = append(attrs, a)
		}
		if l.Traces {
			attrs = append(attrs, ev.Large...)
		}
	}
	ev.Body = l.provider.cfg.Redact(ev.Body)
	ev.Attrs, ev.Private, ev.Large = l.clean(attrs), nil, nil
	return ev
}

func (l *pipeline) span(s Span) Span {
	attrs := slices.Clone(s.Attrs)
	if l.Prompts && l.Traces {
		attrs = append(attrs, s.Large...)
	}
	s.Error = l.provider.cfg.Redact(s.Error)
	s.Attrs, s.Large = l.clean(attrs), nil
	return s
}

func (l *pipeline) metrics(r *Recorder, all []Metric) []Metric {
	var clean []Metric
	for _, m := range all {
		m.Points = slices.Clone(m.Points)
		for i := range m.Points {
			m.Points[i].Attrs = l.clean(slices.Concat(r.common, m.Points[i].Attrs))
		}
		clean = append(clean, m)
	}
	return clean
}

// clean removes the secrets from attrs, in place.
func (l *pipeline) clean(attrs []slog.Attr) []slog.Attr {
	for i, a := range attrs {
		switch v := a.Value.Any().(type) {
		case string:
			attrs[i].Value = slog.StringValue(l.provider.cfg.Redact(v))
		case []string:
			list := make([]string, len(v))
			for j, s := range v {
				list[j] = l.provider.cfg.Redact(s)
			}
			attrs[i].Value = slog.AnyValue(list)
		}
	}
	return attrs
}
