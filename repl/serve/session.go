package serve

import (
	"context"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/question"
	"gemline/repl/report"
)

// A SessionRequest describes a session to begin, and its client.
type SessionRequest struct {
	Name     string            // "" for a single call
	Approver engine.Approver   // nil if no user can be asked
	Notify   func(text string) // reports a notice that is no error
	Unasked  bool              // run everything without approval, if the policy allows it
}

// A Session carries out calls, one at a time.
type Session struct {
	ID    string
	Tally *tally.Tally
	Model func() string // that is asked

	// Ask lets the model work on a prompt, and reports to to.
	Ask func(ctx context.Context, to report.Reporter, prompt string) error

	// Offered returns the tools that the model may call.
	Offered func() []engine.Tool

	// Tools returns the tools that a client may call, and Call calls a tool. Its error ends the
	// call without a result. Again repeats a call of the model that a restart interrupted before it
	// was made, if its tool still exists.
	Tools func() []engine.Tool
	Call  func(ctx context.Context, t engine.Tool, args map[string]any, show func(engine.Event)) error
	Again func(ctx context.Context, name string, args map[string]any, show func(engine.Event)) (made bool, err error)

	// Hint sends words to the model while it works on a prompt, and Late returns words that came
	// too late. Hint is nil if hints are off.
	Hint func(words string)
	Late func() string

	Close func()
}

// FailureText describes a failure, with advice.
func FailureText(o report.Outcome) string {
	o = o.Complete()
	if o.Hint == "" {
		return o.Message
	}
	return o.Message + "; " + o.Hint
}

// Describe returns the question: the title, the detail and further facts.
func Describe(p engine.Proposal) string { return "gemline asks: " + question.Describe(p) }
