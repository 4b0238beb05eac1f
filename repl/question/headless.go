package question

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// ErrAsked ends a run whose call needs an approval while no user can be asked, if
// [Headless.FailOnAsk] is set.
var ErrAsked = errors.New("a call needs an approval and nobody can be asked")

// An AskedError is an [ErrAsked], with the call that would have been asked about.
type AskedError struct {
	Call   engine.Proposal
	Advice string // how the call is allowed
}

// Error returns one line.
func (e *AskedError) Error() string {
	return ErrAsked.Error() + ": " + output.FirstLine(cmp.Or(e.Call.Intent.Title, e.Call.Tool.Name()))
}

// Unwrap returns [ErrAsked].
func (e *AskedError) Unwrap() error { return ErrAsked }

// Hint says how the call is allowed.
func (e *AskedError) Hint() string { return e.Advice }

// ErrDenied ends a run in which a rule denied a call, where that was wished for.
var ErrDenied = errors.New("a rule denies a call")

// DeniedError returns an [ErrDenied] if ev is a denial by a rule.
func DeniedError(ev engine.Event) error {
	_, said := engine.Unnest(ev)
	f, ok := said.(engine.CallFinished)
	var ce *engine.CallError
	if !ok || f.UnaskedAdvice != "" || !errors.As(f.Err, &ce) || ce.Type != engine.PolicyViolation {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDenied, output.FirstLine(cmp.Or(f.Intent.Title, f.Name)))
}

// Headless is the approver of a run without a user: it refuses, and names the option that would
// allow the call.
type Headless struct {
	FailOnAsk bool // end the run with an [AskedError] instead

	// Flags returns the narrowest flags with which the call would run without approval, "" if there
	// are none. It may be nil.
	Flags func(engine.Proposal) string
}

// Approve implements [engine.Approver]. A call that has failed for lack of a right is over, so it
// does not end the run.
func (h Headless) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	advice := h.advice(p)
	if h.FailOnAsk && p.Intent.Plan.Failure.Reason == "" {
		return nil, &AskedError{p, advice}
	}
	return engine.Unasked{Advice: advice}, nil
}

// advice names the setting that would allow p, for use after a semicolon.
func (h Headless) advice(p engine.Proposal) string {
	const terminal = "run it in a session at a terminal, where it is asked about"
	switch {
	case p.Intent.Ask != "":
		return text.OneLine(p.Intent.Ask, longestReason) + "; " + terminal
	case len(p.Intent.Questions) > 0:
		return "questions are answered in a session at a terminal"
	case !p.Intent.Plan.Rights.Empty() || h.Flags == nil: // it never advises to switch protection off
		return terminal
	}
	if flags := h.Flags(p); flags != "" {
		return "allow it with " + flags + " (policy files: gemline help policy)"
	}
	if p.Intent.Secret != "" {
		return p.Intent.Secret + " may hold secrets; allow it with a rule whose argsPattern names this file (gemline help policy), or " + terminal
	}
	if len(p.Intent.Grants) > 0 && p.Intent.Grants[0].Rule != "" {
		return "allow it with a rule in a policy file (gemline help policy), or " + terminal
	}
	return terminal
}
