package journal

import (
	"context"

	"google.golang.org/genai"

	"gemline/engine"
)

// A begunLine records that a call has begun. Other programs ignore it.
type begunLine struct {
	Message string `json:"message"` // of the model, its id
	ID      string `json:"id"`      // of the call
}

// RecordCalls returns a Run that records the beginning of each call before the call runs. After a
// session was killed, calls that only waited for approval are therefore known not to have run.
func (f *File) RecordCalls(run engine.Run) engine.Run {
	f.begins = true
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		for ev, err := range run(ctx, parts...) {
			if s, ok := ev.(engine.CallStateChanged); ok && s.State == engine.Executing && f.last.line != nil && f.last.line.Begins {
				if b, err := encode(map[string]any{"$begun": begunLine{f.last.line.ID, s.ID}}); err == nil {
					f.write(b) // a failure is reported with the next message
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	})
}
