package report

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"gemline/engine"
)

// A TruncatedError means that the last answer of a run is incomplete: the model's server cut it for
// its length or its content.
type TruncatedError struct{ Message string }

// Error returns the message.
func (e *TruncatedError) Error() string { return e.Message }

// FailTruncated returns a run that fails with a [*TruncatedError] if ask ends with an incomplete
// answer. Half an answer that looks complete would mislead scripts that read only the exit code; in
// a session, a warning suffices.
func FailTruncated(ask engine.Run) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		var cut *engine.Notice // held until it is known whether the run continues
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

// goesOn reports whether an event begins more work after an answer, rather than describing the
// answer.
func goesOn(ev engine.Event) bool {
	switch ev.(type) {
	case engine.RequestStarted, engine.CallRequested:
		return true
	}
	return false
}
