// Package parallel does work on several goroutines.
//
// # Nothing falls alone
//
// A panic of a goroutine would be the end of the program. It goes on where
// somebody waits for the work and can recover, with the place where it began.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Each calls f with the numbers below n, so many at once at most, and returns
// when all are over. The first panic of one goes on in the caller.
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

// A Panic is the first one of goroutines that work for another.
type Panic struct{ text atomic.Pointer[string] }

// Catch is deferred by those that work. After a panic it calls stops, so that
// the others can end, too.
func (p *Panic) Catch(stops ...func()) {
	if v := recover(); v != nil {
		text := fmt.Sprintf("%v\n%s", v, debug.Stack())
		p.text.CompareAndSwap(nil, &text)
		for _, stop := range stops {
			stop()
		}
	}
}

// Raise goes on with the panic, if there was one. All who work must be over.
func (p *Panic) Raise() {
	if text := p.text.Load(); text != nil {
		panic(*text)
	}
}
