package engine

import "context"

// Unmade tells by yield that calls are over that were never made, and why, in words
// for the user. It is for a wrapper of a [Run] that leaves it before they begin. It
// reports false if the consumer has had enough.
func Unmade(calls []Called, why string, yield func(Event, error) bool) bool {
	for _, c := range calls {
		if !yield(State{ID: c.ID, Name: c.Name, State: Cancelled}, nil) ||
			!yield(Finished{ID: c.ID, Name: c.Name, Err: unmade(why)}, nil) {
			return false
		}
	}
	return true
}

// unmade is the error of a call that was never made.
type unmade string

func (u unmade) Error() string { return string(u) }

// Unwrap makes it a cancellation, and says how it is told.
func (u unmade) Unwrap() []error {
	return []error{context.Canceled, &CallError{Message: u.Error(), Display: u.Error()}}
}
