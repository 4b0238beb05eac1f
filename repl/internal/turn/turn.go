// Package turn carries out what takes long beside the goroutine that shows and
// asks.
//
// # One goroutine shows
//
// A turn brings its events and questions to the [Desk] of the caller that began
// it, and waits until they are handled. So no output needs a lock.
//
// # Nothing falls alone
//
// A panic beside goes on on the goroutine that waits, where the program can
// still write its last record.
package turn

import "gemline/engine/parallel"

// A Desk is where a turn brings functions to be called on another goroutine.
type Desk chan func()

// Do has f called by whoever attends the Desk, and waits for it. Without a Desk it calls f itself.
func (d Desk) Do(f func()) {
	if d == nil {
		f()
		return
	}
	done := make(chan struct{})
	d <- func() { defer close(done); f() }
	<-done
}

// Beside calls work on a goroutine of its own, and meanwhile attend, which calls
// the functions at the Desk until it is closed.
func (d Desk) Beside(work, attend func()) {
	var p parallel.Panic
	go func() {
		defer close(d)
		defer p.Catch()
		work()
	}()
	attend()
	p.Raise()
}
