package rpc

import (
	"context"
	"time"

	"gemline/engine/parallel"
)

// A pace is a rate limit for a reader.
type pace struct {
	since time.Time
	n     int
}

// wait counts an event, and waits if there were many.
func (p *pace) wait(ctx context.Context) {
	if p.n++; p.n < maxUnsolicited {
		return
	}
	if rest := time.Second - time.Since(p.since); rest > 0 && !p.since.IsZero() {
		parallel.Sleep(ctx, rest)
	}
	p.since, p.n = time.Now(), 0
}
