package journal

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"gemline/engine"
)

// A begunLine tells that a call has begun. Other programs pass over it.
type begunLine struct {
	Message string `json:"message"` // of the model, its id
	ID      string `json:"id"`      // of the call
}

// Begun returns a Run that records the beginning of each call before the call runs: after a
// session was killed, calls that only waited for approval are then known not to have run.
func (f *File) Begun(run engine.Run) engine.Run {
	f.begins = true
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			for ev, err := range run(ctx, parts...) {
				if s, ok := ev.(engine.State); ok && s.State == engine.Executing {
					f.begin(s.ID) // a failure is told with the next message
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	}
}

// begin records that a call of the model's last message begins.
func (f *File) begin(id string) {
	if f.said == nil || !f.said.Begins {
		return
	}
	if b, err := encode(map[string]any{"$begun": begunLine{f.said.ID, id}}); err == nil {
		f.write(b)
	}
}
