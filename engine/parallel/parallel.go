// Package parallel does work on several goroutines, and waits.
//
// # Panics reach the caller
//
// A panic in a goroutine would end the program. This package raises it again in the goroutine
// that waits for the work and can recover, with the original stack.
package parallel

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Each calls f with the numbers from 0 to n-1 and returns when all calls are over. At most that
// many calls run at once; most must be 1 or more. After a panic in a call, Each panics as
// [Panic.Raise] does.
func Each(n, most int, f func(int)) {
	var wg sync.WaitGroup
	var p Panic
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			defer p.Catch()
			f(i)
		})
	}
	wg.Wait()
	p.Raise()
}

// A Panic passes the first panic of several goroutines to the goroutine that they work for. The
// zero Panic is ready for use.
type Panic struct{ text atomic.Pointer[string] }

// Catch must be deferred by each goroutine. After a panic it calls stops, so that the other
// goroutines can end, too.
func (p *Panic) Catch(stops ...func()) {
	if v := recover(); v != nil {
		text := fmt.Sprintf("%v\n%s", v, debug.Stack())
		p.text.CompareAndSwap(nil, &text)
		for _, stop := range stops {
			stop()
		}
	}
}

// Raise panics if a goroutine has panicked; all goroutines must have ended. The value is a
// string: the panic's message, a newline, and the goroutine's stack.
func (p *Panic) Raise() {
	if text := p.text.Load(); text != nil {
		panic(*text)
	}
}

// Sleep waits until d has passed or ctx is over, and returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Every calls do at intervals of d until end is called. The function end waits for a running
// call; after a panic of do, it panics as [Panic.Raise] does.
func Every(d time.Duration, do func()) (end func()) {
	done := make(chan struct{})
	var calls sync.WaitGroup
	var p Panic
	calls.Go(func() {
		defer p.Catch()
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				do()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		calls.Wait()
		p.Raise()
	}
}
