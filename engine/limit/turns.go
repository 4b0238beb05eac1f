package limit

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// Turns returns a Run for one prompt around run, which makes n requests at most, even if the Run
// is called several times. Beyond that its error wraps [engine.ErrMaxTurns]. If n is 0 there is
// no limit.
func Turns(run engine.Run, n int) engine.Run {
	if n <= 0 {
		return run
	}
	made := 0
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		for ev, err := range run(ctx, parts...) {
			if _, ok := ev.(engine.RequestStarted); ok {
				made++
			}
			if made > n {
				break // the request is not made
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
		if made > n {
			err := fmt.Errorf("stopped: the prompt has taken %s requests: %w", text.Number(n), engine.ErrMaxTurns)
			yield(nil, err)
		}
	})
}
