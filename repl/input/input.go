// Package input turns the user's typed or piped input into parts for the model. A first caller
// joins steps with [Chain] and passes lines to the result.
//
// # Input passes through one chain
//
// A line passes a chain of steps. Each step handles its own marks and passes the line to the next
// step; the result of the last step is sent.
//
// # Scanned once
//
// A step looks for its marks in the text of the first part only, and never in text that another
// step has inserted: a file that contains @other inserts no other file, and a command that prints
// !{...} runs nothing. The order of the steps does not matter.
package input

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/genai"
)

// A Processor rewrites parts on their way from the keyboard to the model. If it returns neither
// parts nor an error, the line needs no further processing.
type Processor func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error)

// A Step is one link of a chain. It either handles the line or calls next.
type Step func(next Processor) Processor

// Chain joins steps, first to last. It returns the result of the last step.
func Chain(steps ...Step) Processor {
	p := func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) { return parts, nil }
	for i := len(steps) - 1; i >= 0; i-- {
		p = steps[i](p)
	}
	return p
}

// ErrQuit is returned by a step that ends the session.
var ErrQuit = errors.New("quit")

// An Error is a mistake in the input, or a part of the input that could not be read.
type Error struct {
	Message string
	Advice  string // how to proceed; may be empty
	Err     error  // the cause, or nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Hint returns the advice.
func (e *Error) Hint() string { return e.Advice }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func mistake(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}

// text returns the text that steps scan.
func text(parts []*genai.Part) string { return parts[0].Text }

// withText returns a copy of parts with another first text.
func withText(parts []*genai.Part, s string) []*genai.Part {
	parts = slices.Clone(parts)
	parts[0] = genai.NewPartFromText(s)
	return parts
}

// say calls notify if there is one.
func say(notify func(string), format string, args ...any) {
	if notify != nil {
		notify(fmt.Sprintf(format, args...))
	}
}
