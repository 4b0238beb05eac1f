package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/question"
)

// OneShot runs a single prompt for a [Reporter].
type OneShot struct {
	Ask      engine.Run
	Model    string // that is asked
	Expand   input.Processor
	Reporter Reporter
	Tally    *tally.Tally
	Session  string
	Now      func() time.Time

	// NoRestart ends the run with a [*RestartError] when an answer restarts after a part of it was
	// printed.
	NoRestart bool

	// FailOnDeny ends the run with [question.ErrDenied] when a rule denies a call.
	FailOnDeny bool

	// Schema, if not nil, is the schema of the answer. The Reporter has the same Schema.
	Schema *OutputSchema
}

// A Prompt is the input of a one-shot run.
type Prompt struct {
	Text  string      // of the command line
	Piped string      // of standard input
	Media *genai.Part // of standard input, if it is not text

	Context string // precedes the whole prompt

	// The size and encoding of Piped before its conversion to UTF-8; zero for the current ones.
	Bytes    int
	Encoding string
}

// String returns the whole text, in the user's words. The model gets tags around piped text that
// comes with other words.
func (p Prompt) String() string {
	words := p.Piped + p.Text
	if p.Piped != "" && p.Text != "" {
		words = p.Piped + "\n\n" + p.Text
	}
	return p.before(words)
}

// before returns words with the piped text before them.
func (p Prompt) before(words string) string {
	if p.Context == "" {
		return words
	}
	return p.Context + "\n\n" + words
}

// block returns the piped text as data for the front of a prompt.
func (p Prompt) block() string {
	return input.DataBlock(p.Piped, cmp.Or(p.Bytes, len(p.Piped)), cmp.Or(p.Encoding, "utf-8")) + "\n\n"
}

// empty reports whether there is nothing to ask.
func (p Prompt) empty() bool {
	return p.Media == nil && strings.TrimSpace(p.Text) == "" && strings.TrimSpace(p.Piped) == ""
}

// errNoPrompt is the error of a run without a prompt.
var errNoPrompt = &input.Error{Message: "no prompt: give one with -p or as words, or pipe it in"}

// Run runs p. It returns an error of the prompt's expansion, of the Run, or of a call on a full
// disk, [question.ErrDenied], or an [*UnmetError]. The caller finishes the Reporter.
//
// Text piped in beside a prompt is data: it contains no references or commands.
func (o *OneShot) Run(ctx context.Context, p Prompt) error {
	if p.empty() {
		return errNoPrompt
	}
	o.Tally.Start(o.Now())
	o.Reporter.Begin(Init{Session: o.Session, Model: o.Model, Prompt: p.String()})
	parts, err := o.expand(ctx, p)
	if errors.Is(err, input.ErrQuit) {
		parts, err = nil, nil // nothing more remains to be done
	}
	if err != nil {
		return err
	}
	if len(parts) == 0 && o.Schema != nil {
		return o.Schema.unmet([]string{"the prompt is a command, which has no answer"})
	}
	if len(parts) == 0 {
		return nil
	}
	err = o.run(ctx, parts)
	if err == nil && o.Schema != nil {
		err = o.meet(ctx)
	}
	o.Tally.End(err, o.Now())
	return err
}

func (o *OneShot) expand(ctx context.Context, p Prompt) ([]*genai.Part, error) {
	var parts []*genai.Part
	if words := cmp.Or(p.Text, p.Piped); words != "" {
		var err error
		parts, err = o.Expand(ctx, []*genai.Part{genai.NewPartFromText(words)})
		if err != nil || len(parts) == 0 {
			return nil, err
		}
	}
	if p.Piped != "" && p.Text != "" {
		if first := parts[0]; first.Text != "" {
			parts[0] = genai.NewPartFromText(p.block() + first.Text)
		} else {
			parts = append([]*genai.Part{genai.NewPartFromText(p.block())}, parts...)
		}
	}
	if p.Media != nil {
		parts = append(parts, p.Media)
	}
	if len(parts) > 0 && parts[0].Text != "" {
		parts[0] = genai.NewPartFromText(p.before(parts[0].Text))
	} else if p.Context != "" {
		parts = append([]*genai.Part{genai.NewPartFromText(p.Context + "\n\n")}, parts...)
	}
	return parts, nil
}

// run runs parts to the end. If a call meets a full disk, run ends after the other calls of the
// same message.
func (o *OneShot) run(ctx context.Context, parts []*genai.Part) error {
	var full error
	said := false // text since the last request
	for ev, err := range o.Ask(ctx, parts...) {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case engine.RequestStarted:
			if full != nil {
				return full
			}
			said = false
		case engine.Text:
			said = true
		case engine.Retry:
			if ev.Restart && said && o.NoRestart {
				return &RestartError{Err: ev.Err}
			}
		}
		o.Tally.Observe(ev, o.Now())
		o.Reporter.Event(ev)
		o.Schema.observe(ev)
		if err := question.DeniedError(ev); err != nil && o.FailOnDeny {
			return err
		}
		_, ev = engine.Unnest(ev)
		if err := approvalError(ev); err != nil {
			return err
		}
		if f, ok := ev.(engine.CallFinished); ok && f.Err != nil && engine.ErrorType(f.Err) == engine.NoSpaceLeft {
			full = fmt.Errorf("%s: %w", f.Name, f.Err)
		}
	}
	return full
}

// approvalError returns the error of an agent that needed an approval without a user, if that ends
// the run.
func approvalError(ev engine.Event) error {
	var ce *engine.CallError
	if f, ok := ev.(engine.CallFinished); ok && errors.As(f.Err, &ce) && errors.Is(ce.Cause, question.ErrAsked) {
		return ce.Cause
	}
	return nil
}

// A RestartError is the error of a run whose answer would have restarted after a part of it was
// printed.
type RestartError struct{ Err error } // why the answer was interrupted

// Error returns one line.
func (e *RestartError) Error() string {
	return "the answer broke off after a part of it was written: " + errorText(e.Err)
}

// Unwrap returns the cause.
func (e *RestartError) Unwrap() error { return e.Err }

// Hint returns the alternatives.
func (e *RestartError) Hint() string {
	return "without --stream token only what counts is written; with --allow-restart the whole answer follows the part"
}

// CommandWriter returns a writer for the output of a slash command in a one-shot run. The output
// becomes the answer in every format.
func CommandWriter(r Reporter) io.Writer { return speaker{r} }

type speaker struct{ Reporter }

func (s speaker) Write(b []byte) (int, error) {
	s.Event(engine.Text{Delta: string(b)})
	s.Event(engine.AnswerFinished{})
	return len(b), nil
}
