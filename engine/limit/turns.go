package limit

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// Turns returns a Run for one prompt, which yields what run does, and ends before it makes
// more than n requests, however often something is said by it. Its error then wraps
// [engine.ErrMaxTurns]. If n is 0 there is no limit.
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
