package engine

import "context"

// NotRun yields a [CallFinished] for each call that never ran, with the reason for the user. A
// wrapper of a [Run] calls it when it leaves the Run before the calls begin. It returns false if
// the consumer has stopped.
func NotRun(calls []CallRequested, why string, yield func(Event, error) bool) bool {
	for _, c := range calls {
		if !yield(CallStateChanged{ID: c.ID, Name: c.Name, State: Cancelled}, nil) ||
			!yield(CallFinished{ID: c.ID, Name: c.Name, Err: notRun(why)}, nil) {
			return false
		}
	}
	return true
}

// notRun is the error of a call that never ran.
type notRun string

func (u notRun) Error() string { return string(u) }

// Unwrap makes the error a cancellation and a [CallError].
func (u notRun) Unwrap() []error {
	return []error{context.Canceled, &CallError{Message: u.Error(), Display: u.Error()}}
}
