package agent

import (
	"context"
	"errors"
	"time"
)

// errLate is the cause of a context whose time is up.
var errLate = errors.New("the agent's time is up")

// A clock ends a context when its time is up. Time in which the clock is stopped does not
// count.
type clock struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// start returns a context that the clock ends after d.
func (c *clock) start(ctx context.Context, d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.left, c.since = d, time.Now()
	c.timer = time.AfterFunc(d, func() { cancel(errLate) })
	return ctx, func() { c.timer.Stop(); cancel(nil) }
}

// still runs f while the clock is stopped.
func (c *clock) still(f func()) {
	running := c.timer != nil && c.timer.Stop()
	if running {
		c.left -= time.Since(c.since)
	}
	f()
	if running {
		c.since = time.Now()
		c.timer.Reset(max(0, c.left))
	}
}
