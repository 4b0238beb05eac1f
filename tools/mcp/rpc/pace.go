package rpc

import (
	"context"
	"time"
)

// A pace keeps who reads from being driven by who writes.
type pace struct {
	since time.Time
	n     int
}

// wait counts one more, and waits if there were many.
func (p *pace) wait(ctx context.Context) {
	if p.n++; p.n < maxUnsolicited {
		return
	}
	if rest := time.Second - time.Since(p.since); rest > 0 && !p.since.IsZero() {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
	}
	p.since, p.n = time.Now(), 0
}
