// Package turn runs long work on one goroutine, while another goroutine prints and asks.
//
// # One goroutine prints
//
// A turn sends its events and questions to the [Desk] of its caller, and waits until they are
// handled. So output needs no lock.
//
// # A panic reaches the caller
//
// A panic of the work is repeated on the waiting goroutine, where the program can still write its
// last record.
package turn

import "gemline/engine/parallel"

// A Desk is a queue of functions that a turn sends to another goroutine.
type Desk chan func()

// Do has f called by the goroutine at the Desk, and waits for it. Without a Desk it calls f itself.
func (d Desk) Do(f func()) {
	if d == nil {
		f()
		return
	}
	done := make(chan struct{})
	d <- func() { defer close(done); f() }
	<-done
}

// Beside runs work on another goroutine, and meanwhile attend, which calls the functions at the
// Desk until it is closed.
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
