package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// A Context keeps a conversation within what the model's context holds.
type Context interface {
	// Fit is called before each request, and again after the server has refused the request as
	// too long. It returns the conversation to send instead. It reports failures by s.Notify; the
	// conversation then stays unchanged.
	Fit(ctx context.Context, s FitRequest) FitResult
}

// A FitRequest is a conversation that is about to be sent.
type FitRequest struct {
	Model   string
	History []*genai.Content // without the opening message; not to be changed
	Size    int              // known or estimated tokens of the request
	Limit   int              // tokens that the model's context holds, 0 if unknown
	Refused bool             // the server has refused it as too long
	Notify  func(Event)      // to be called on the goroutine that calls Fit
}

// A FitResult is a conversation that replaces a longer one. The zero FitResult leaves it
// unchanged.
type FitResult struct {
	History    []*genai.Content
	Action     string // the change, in a clause for the user
	Summarized bool   // a summary replaces earlier turns
}

// ErrCompressing is the cause of a [Notice] that the conversation is being summarized. That lasts
// until the next request or the end of the Run.
var ErrCompressing = errors.New("compressing the conversation")

// A ConversationShortened is the cause of a [Notice] that the conversation was made shorter.
type ConversationShortened struct {
	Before, After int // tokens, about
	Summarized    bool
}

// Error states both sizes.
func (s *ConversationShortened) Error() string {
	return fmt.Sprintf("%s tokens became %s", thousands(s.Before), thousands(s.After))
}

// thousands returns an estimated number, rounded for people.
func thousands(n int) string {
	if n < 10_000 {
		return text.Number(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

// ErrTooLong marks the error of a request that the server refused as larger than the model's
// context.
var ErrTooLong = errors.New("the conversation is too long for the model")

// HintTooLong advises the user when a conversation is too long.
const HintTooLong = "send less, sum up the conversation (/compress in a session), or begin another (/clear)"

// An OverflowError ends a Run whose next request does not fit into the model's
// context. Nothing was sent.
type OverflowError struct{ Request, Remaining, Limit int } // tokens

// Error says how much too large the message is.
func (e *OverflowError) Error() string {
	if e.Request > e.Limit {
		return fmt.Sprintf("the message takes about %d tokens, and the model's context holds %d", e.Request, e.Limit)
	}
	return fmt.Sprintf("the message takes about %d tokens, and only %d are left in the model's context",
		e.Request, max(0, e.Remaining))
}

// Hint says what to do, on one line.
func (e *OverflowError) Hint() string {
	if e.Request > e.Limit {
		return "name a file by its path instead of sending its contents: the model reads it in parts"
	}
	return HintTooLong
}

// fit shortens the conversation if the next request does not fit into the model's context.
func (e *Engine) fit(ctx context.Context, emit emitFunc) error {
	last, err := e.measure(ctx)
	if err != nil {
		return err
	}
	limit := e.limit()
	alone := last > limit && !HasAnswers(e.history[len(e.history)-1]) // and nothing else can be left out
	if limit == 0 || !alone {
		if _, err := e.shorten(ctx, e.cfg.Context, false, emit); err != nil {
			return err
		}
	}
	if limit > 0 && e.estimate.tokens > limit {
		return &OverflowError{Request: last, Remaining: limit - e.estimate.tokens + last, Limit: limit}
	}
	return nil
}

// Shorten has c shorten the conversation, and reports whether it did. It emits a [Notice] about
// that, and returns emit's error. It must not be called during a Run.
func (e *Engine) Shorten(ctx context.Context, c Context, emit func(Event) error) (bool, error) {
	if _, err := e.measure(ctx); err != nil {
		return false, err
	}
	if s := &e.estimate; !s.whole { // no answer has counted it yet, as in a resumed conversation
		s.tokens, s.whole = s.tokens+size(declare(e.cfg.Tools.Tools(), e.cfg.Policy))/4, true
		if e.cfg.System != nil {
			s.tokens += int(estimateText(e.cfg.System()))
		}
	}
	return e.shorten(ctx, c, false, emit)
}

func (e *Engine) shorten(ctx context.Context, c Context, refused bool, emit emitFunc) (bool, error) {
	if c == nil {
		return false, nil
	}
	var failed error // of emit
	before := e.estimate.tokens
	s := c.Fit(ctx, FitRequest{Model: e.cfg.Model, History: slices.Clip(e.unopened(e.history)),
		Size: before, Limit: e.limit(), Refused: refused,
		Notify: func(ev Event) {
			if failed == nil {
				failed = emit(ev)
			}
		}})
	failed = cmp.Or(failed, ctx.Err())
	if failed != nil || len(s.History) == 0 {
		return false, failed
	}
	if err := e.Rewrite(s.History); err != nil {
		emit(Notice{Text: err.Error()})
	}
	if _, err := e.measure(ctx); err != nil {
		return true, err
	}
	by := &ConversationShortened{Before: before, After: e.estimate.tokens, Summarized: s.Summarized}
	return true, emit(Notice{Text: s.Action + ": " + by.Error(), Cause: by, Info: true})
}

// limit returns how many tokens the context of the model holds, 0 if unknown.
func (e *Engine) limit() int {
	if e.cfg.TokenLimit == nil {
		return 0
	}
	return e.cfg.TokenLimit(e.cfg.Model)
}

// replace sets the history.
func (e *Engine) replace(history []*genai.Content) {
	same := 0
	for same < min(len(history), len(e.history)) && history[same] == e.history[same] {
		same++
	}
	e.estimate.cut(e.history, same)
	e.history, e.wire = history, wire{}
}
