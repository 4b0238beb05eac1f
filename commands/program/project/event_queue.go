package project

import (
	"sync"

	"gemline/engine"
)

// An EventQueue holds events that were not yielded yet. It is safe for concurrent use: tools run side by
// side, and only the run that yields events may write to the terminal meanwhile.
type EventQueue struct {
	mu     sync.Mutex
	events []engine.Event
	turns  int // that run, and tell what is added
}

// Open lets offer add events until the function that it returns is called.
func (b *EventQueue) Open() (end func()) {
	count := func(n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turns += n
	}
	count(1)
	return func() { count(-1) }
}

// Offer adds an event if a turn runs, which will yield it.
func (b *EventQueue) Offer(ev engine.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turns == 0 {
		return false
	}
	b.events = append(b.events, ev)
	return true
}

func (b *EventQueue) Add(ev engine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, ev)
}

func (b *EventQueue) Take() []engine.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}
