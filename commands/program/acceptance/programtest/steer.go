package programtest

import (
	"context"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A gate is a reply that waits until the test lets it go.
type Gate struct {
	Asked, Open chan struct{}
}

// Gated returns a reply that is asked for and goes on when its gate is opened.
func Gated(r et.Reply) (et.Reply, Gate) {
	g := Gate{make(chan struct{}), make(chan struct{})}
	r.Inspect = func(ctx context.Context, _ *engine.Request) {
		close(g.Asked)
		select {
		case <-g.Open:
		case <-ctx.Done():
		}
	}
	return r, g
}
