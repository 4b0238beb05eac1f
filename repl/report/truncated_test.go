package report

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

func TestFailTruncated(t *testing.T) {
	failure := errors.New("broken")
	cut, text, turn := engine.Notice{Text: "cut", Cause: engine.ErrCut}, engine.Text{Delta: "half"}, engine.RequestStarted{Number: 2}
	for _, test := range []struct {
		name   string
		events []engine.Event
		err    error
		want   string
	}{
		{"a whole answer", []engine.Event{text, engine.Notice{Text: "told"}}, nil, "Text Notice"},
		{"half of one", []engine.Event{text, cut}, nil, "Text cut!"},
		{"half of one, and calls", []engine.Event{text, cut, turn, text}, nil, "Text Notice RequestStarted Text"},
		{"twice", []engine.Event{cut, turn, text, cut}, nil, "Notice RequestStarted Text cut!"},
		{"a check behind it", []engine.Event{text, cut, engine.CheckFinished{}}, nil, "Text CheckFinished cut!"},
		{"a failure behind it", []engine.Event{text, cut}, failure, "Text Notice broken!"},
		{"nothing", nil, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := FailTruncated(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
				return func(yield func(engine.Event, error) bool) {
					for _, ev := range test.events {
						if !yield(ev, nil) {
							return
						}
					}
					if test.err != nil {
						yield(nil, test.err)
					}
				}
			})
			var got []string
			for ev, err := range run(t.Context()) {
				if err != nil {
					got = append(got, err.Error()+"!")
					continue
				}
				got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", ev), "engine."))
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %q; want %q", s, test.want)
			}
			for range run(t.Context()) {
				break // nothing is yielded after that, or the runtime panics
			}
		})
	}
}
