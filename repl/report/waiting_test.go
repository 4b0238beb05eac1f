package report

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// TestWaiting has a model think for long, on a clock of its own.
func TestWaiting(t *testing.T) {
	type step struct {
		after time.Duration
		ev    engine.Event
	}
	for _, c := range []struct {
		name  string
		steps []step
		told  int
		first string
		last  string
	}{
		{"a thought of a quarter of an hour", []step{{0, engine.RequestStarted{}}, {15*time.Minute - time.Second, engine.Text{Delta: "a"}}, {0, engine.AnswerFinished{}}},
			14, "waiting for the model, nothing has come for 1 min 0 s", "waiting for the model, nothing has come for 14 min 0 s"},
		{"a quick answer", []step{{0, engine.RequestStarted{}}, {59 * time.Second, engine.Text{}}, {0, engine.AnswerFinished{}}}, 0, "", ""},
		{"an answer that comes slowly", []step{{0, engine.RequestStarted{}}, {40 * time.Second, engine.Text{}}, {40 * time.Second, engine.Thought{}},
			{40 * time.Second, engine.AnswerFinished{}}}, 0, "", ""},
		{"a call that runs long", []step{{0, engine.RequestStarted{}}, {0, engine.AnswerFinished{}}, {0, engine.CallStarted{}}, {10 * time.Minute, engine.CallFinished{}}}, 0, "", ""},
		{"a wait before it is asked again", []step{{0, engine.RequestStarted{}}, {0, engine.Retry{Delay: 5 * time.Minute}}, {6*time.Minute + time.Second, engine.Text{}}},
			1, "waiting for the model, nothing has come for 1 min 0 s", "waiting for the model, nothing has come for 1 min 0 s"},
		{"a word beside it", []step{{0, engine.RequestStarted{}}, {30 * time.Second, engine.Notice{}}, {31 * time.Second, engine.Text{}}},
			1, "waiting for the model, nothing has come for 1 min 0 s", "waiting for the model, nothing has come for 1 min 0 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
					return func(yield func(engine.Event, error) bool) {
						for _, s := range c.steps {
							time.Sleep(s.after)
							if !yield(s.ev, nil) {
								return
							}
						}
					}
				}
				var mu sync.Mutex
				var told []string
				tell := func(ev engine.Event) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, ev.(engine.Notice).Text)
				}
				for range WithWaitingNotices(run, nil, tell)(t.Context()) {
				}
				if len(told) != c.told || c.told > 0 && (told[0] != c.first || told[len(told)-1] != c.last) {
					t.Errorf("told %d: %q", len(told), told)
				}
			})
		})
	}
}
