package serve

import (
	"context"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/question"
	"gemline/repl/report"
)

// A SessionRequest says which session is to begin, and for whom.
type SessionRequest struct {
	Name     string            // "" is one for a single call
	Approver engine.Approver   // nil if nobody can be asked
	Notify   func(text string) // reports a notice that is no error
	Unasked  bool              // everything is to run without a question, if that may be
}

// A Session carries out calls, one after the other.
type Session struct {
	ID    string
	Tally *tally.Tally
	Model func() string // that is asked

	// Ask has the model work on a prompt, which to is told of.
	Ask func(ctx context.Context, to report.Reporter, prompt string) error

	// Offered returns the tools that the model may call.
	Offered func() []engine.Tool

	// Tools returns what a client may call, and Call calls it. Its error ends the call without
	// a result. Again makes a call of the model's that was cut off before it was made, if
	// there is such a tool.
	Tools func() []engine.Tool
	Call  func(ctx context.Context, t engine.Tool, args map[string]any, show func(engine.Event)) error
	Again func(ctx context.Context, name string, args map[string]any, show func(engine.Event)) (made bool, err error)

	// Hint has the model hear something while it works on a prompt, and Late returns what
	// came too late for that. Hint is nil where that is not wanted.
	Hint func(words string)
	Late func() string

	Close func()
}

// FailureText says how work failed, with what to do about it.
func FailureText(o report.Outcome) string {
	o = o.Complete()
	if o.Hint == "" {
		return o.Message
	}
	return o.Message + "; " + o.Hint
}

// Describe returns the question: the title, the detail and further facts.
func Describe(p engine.Proposal) string { return "gemline asks: " + question.Describe(p) }
