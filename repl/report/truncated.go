package report

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"gemline/engine"
)

// A TruncatedError means that the last answer of a run is incomplete: the model's server ended it
// for its length or its content.
type TruncatedError struct{ Message string }

// Error returns the message.
func (e *TruncatedError) Error() string { return e.Message }

// FailTruncated returns a run that fails with a [*TruncatedError] where ask ends with an answer
// that is not whole. Half an answer that looks complete is a trap for scripts that read only the
// exit code; in a session, a warning will do.
func FailTruncated(ask engine.Run) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		var cut *engine.Notice // held back until it is known whether the run goes on
		for ev, err := range ask(ctx, parts...) {
			if cut != nil && (err != nil || goesOn(ev)) {
				if !yield(*cut, nil) {
					return
				}
				cut = nil
			}
			if n, ok := ev.(engine.Notice); ok && err == nil && errors.Is(n.Cause, engine.ErrCut) {
				cut = &n
				continue
			}
			if !yield(ev, err) {
				return
			}
		}
		if cut != nil {
			yield(nil, &TruncatedError{Message: cut.Text})
		}
	})
}

// goesOn reports whether an event begins more work after an answer, in contrast to events
// about the answer itself.
func goesOn(ev engine.Event) bool {
	switch ev.(type) {
	case engine.RequestStarted, engine.CallRequested:
		return true
	}
	return false
}
