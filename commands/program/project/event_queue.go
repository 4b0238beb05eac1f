package project

import (
	"sync"

	"gemline/engine"
)

// An EventQueue holds events until a turn yields them. It is safe for concurrent use: tools run in
// parallel, and only the run that yields events may write to the terminal.
type EventQueue struct {
	mu     sync.Mutex
	events []engine.Event
	turns  int // running turns, which yield added events
}

// Open lets [EventQueue.Offer] add events until the function that it returns is called.
func (q *EventQueue) Open() (end func()) {
	count := func(n int) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.turns += n
	}
	count(1)
	return func() { count(-1) }
}

// Offer adds an event if a turn runs, which will yield it, and reports whether it did.
func (q *EventQueue) Offer(ev engine.Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turns == 0 {
		return false
	}
	q.events = append(q.events, ev)
	return true
}

// Add adds an event. The running turn yields it, or else the next turn.
func (q *EventQueue) Add(ev engine.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = append(q.events, ev)
}

// Take removes and returns the events in the queue.
func (q *EventQueue) Take() []engine.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	events := q.events
	q.events = nil
	return events
}
