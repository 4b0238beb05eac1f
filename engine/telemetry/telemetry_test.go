package telemetry_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/telemetry"
)

// A shelf is an Exporter that keeps what it is given.
type shelf struct {
	mu      sync.Mutex
	batches []telemetry.Batch
	err     error
	block   bool          // until the context is over
	deaf    time.Duration // that it takes, context or not
}

func (s *shelf) Export(ctx context.Context, b *telemetry.Batch) error {
	time.Sleep(s.deaf)
	if s.block {
		<-ctx.Done()
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, *b)
	return s.err
}

func (s *shelf) Close() error { return nil }

func (s *shelf) events(name string) (all []telemetry.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.batches {
		for _, ev := range b.Events {
			if ev.Name == name {
				all = append(all, ev)
			}
		}
	}
	return all
}

func attr(attrs []slog.Attr, key string) (all []any) {
	for _, a := range attrs {
		if a.Key == key {
			all = append(all, a.Value.Any())
		}
	}
	return all
}

func provider(targets ...telemetry.Target) *telemetry.Provider {
	return telemetry.New(telemetry.Config{Targets: targets,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }})
}

// What was said reaches the target that is to have it, and no other; secrets reach none.
func TestPrivate(t *testing.T) {
	open, shut := &shelf{}, &shelf{}
	p := provider(telemetry.Target{Exporter: open, Prompts: true, Grace: time.Second},
		telemetry.Target{Exporter: shut, Grace: time.Second})
	r := p.Begin(telemetry.Session{ID: "s1"})
	r.Log(telemetry.Event{Name: "gemini_cli.hook_call", Body: "hunter2 ran",
		Attrs:   []slog.Attr{slog.String("hook_name", "lint.sh"), slog.Any("list", []string{"a", "hunter2"})},
		Private: []slog.Attr{slog.String("hook_name", "lint.sh --key hunter2")},
		Large:   []slog.Attr{slog.String("all", "everything")}})
	r.Measure(telemetry.HookCalls, 1, slog.String("hook_name", "hunter2"))
	r.Close()
	if said := p.Close(); said != nil {
		t.Error(said)
	}
	for _, test := range []struct {
		s    *shelf
		want string
	}{{open, "lint.sh --key [redacted]"}, {shut, "lint.sh"}} {
		all := test.s.events("gemini_cli.hook_call")
		if len(all) != 1 {
			t.Fatalf("%d events", len(all))
		}
		ev := all[0]
		if got := attr(ev.Attrs, "hook_name"); !slices.Equal(got, []any{test.want}) {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if got := attr(ev.Attrs, "list")[0].([]string); got[1] != "[redacted]" || ev.Body != "[redacted] ran" ||
			attr(ev.Attrs, "all") != nil {
			t.Errorf("got %v, %q", ev.Attrs, ev.Body)
		}
		if got := attr(ev.Attrs, "session.id"); !slices.Equal(got, []any{"s1"}) {
			t.Errorf("session %v", got)
		}
		for _, b := range test.s.batches {
			for _, m := range b.Metrics {
				for _, pt := range m.Points {
					if slices.Contains(attr(pt.Attrs, "hook_name"), any("hunter2")) {
						t.Error("a secret in a metric")
					}
				}
			}
		}
	}
}

// A target that takes nothing delays nobody, holds a bounded amount, and is said once.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, fine := &shelf{block: true}, &shelf{}
		p := provider(telemetry.Target{Exporter: stuck, Grace: time.Second, Trouble: "the collector does not answer"},
			telemetry.Target{Exporter: fine, Grace: time.Second})
		r := p.Begin(telemetry.Session{ID: "s"})
		synctest.Wait()
		start := time.Now()
		for i := range 20000 {
			r.Log(telemetry.Event{Name: "x", Body: strings.Repeat("y", 100)})
			if i%1000 == 0 {
				synctest.Wait() // the other target has time
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("records took %v", took)
		}
		synctest.Wait()
		r.Log(telemetry.Event{Name: "last"})
		r.Close()
		said := p.Close()
		if took := time.Since(start); took > 1100*time.Millisecond {
			t.Errorf("the end took %v", took)
		}
		if want := []string{"the collector does not answer: it takes too long"}; !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
		if len(fine.events("last")) != 1 {
			t.Error("the other target has not got the last record")
		}
	})
}

// A target that does not let itself be stopped is left, and said once, also where it fails
// at that moment.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &shelf{deaf: 1100 * time.Millisecond, err: errors.New("gone")}
		p := provider(telemetry.Target{Exporter: deaf, Grace: time.Second, Trouble: "no telemetry"})
		p.Begin(telemetry.Session{ID: "s"})
		synctest.Wait()
		said := p.Close()
		time.Sleep(time.Minute)
		if len(said) != 1 || !strings.HasPrefix(said[0], "no telemetry: ") {
			t.Errorf("said %q", said)
		}
	})
}

// A target that fails is said by the next Run, once, and asked no more at the end.
func TestFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &shelf{err: errors.New("connection refused, hunter2")}
		p := provider(telemetry.Target{Exporter: bad, Grace: time.Second, Trouble: "no telemetry"})
		r := p.Begin(telemetry.Session{ID: "s"})
		synctest.Wait()
		run := r.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(func(engine.Event, error) bool) {}
		})
		var said []string
		for range 3 {
			for ev := range run(t.Context()) {
				if n, ok := ev.(engine.Notice); ok {
					said = append(said, n.Text)
				}
			}
			tried := len(bad.batches)
			r.Log(telemetry.Event{Body: strings.Repeat("x", 5<<20)}) // which is carried on at once
			if synctest.Wait(); len(bad.batches) == tried {
				t.Error("it was not tried again")
			}
		}
		r.Close()
		before := len(bad.batches)
		said = append(said, p.Close()...)
		if want := []string{"no telemetry: connection refused, [redacted]"}; !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
		if len(bad.batches) != before {
			t.Error("asked again at the end")
		}
	})
}

// Nobody records with a nil Recorder, and nothing is wrapped.
func TestOff(t *testing.T) {
	p := telemetry.New(telemetry.Config{})
	r := p.Begin(telemetry.Session{})
	r.Log(telemetry.Event{})
	r.Measure(telemetry.Sessions, 1)
	r.Close()
	if p != nil || r != nil || r.Generator(nil) != nil || r.Run(nil) != nil || p.Close() != nil {
		t.Error("something is wrapped")
	}
}

// A histogram counts a number that is a bound in the bucket below it.
func TestHistogram(t *testing.T) {
	s := &shelf{}
	p := provider(telemetry.Target{Exporter: s, Grace: time.Second})
	r := p.Begin(telemetry.Session{ID: "s"})
	for _, n := range []float64{0, 5, 6, 10001} {
		r.Measure(telemetry.ToolLatency, n)
	}
	r.Close()
	p.Close()
	for _, b := range slices.Backward(s.batches) {
		for _, m := range b.Metrics {
			if m.Instrument != telemetry.ToolLatency {
				continue
			}
			pt := m.Points[0]
			if want := []uint64{1, 1, 1}; !slices.Equal(pt.Buckets[:3], want) || pt.Buckets[15] != 1 ||
				pt.Count != 4 || pt.Min != 0 || pt.Max != 10001 || pt.Sum != 10012 {
				t.Errorf("got %+v", pt)
			}
			return
		}
	}
	t.Error("not measured")
}
