package repl

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/input"
	"gemline/repl/internal/line"
	"gemline/repl/output"
	"gemline/repl/report"
)

// A REPL reads, expands, runs and prints until the user quits.
type REPL struct {
	Console *Console
	Prompt  func() string // shown before each line; "> " if nil
	Expand  input.Processor
	Run     engine.Run
	Printer *Printer
	Asker   *Asker // the engine's approver, if it asks at this terminal

	// Steering, if not nil, sends lines typed during a turn to the model at once, except commands.
	// Otherwise lines are queued.
	Steering *Steering

	// Outcome, if not nil, describes an error for the user, with advice.
	Outcome func(error) report.Outcome

	stopped bool // the user has stopped the last turn
	queued  bool // the user typed an input for the next prompt during it
}

// leaveWithin is the time in which a second Ctrl-C ends the session.
const leaveWithin = 3 * time.Second

// Loop runs until the input ends or a command quits, and then returns nil. If ctx or the output
// ends, it returns the cause.
func (r *REPL) Loop(ctx context.Context) error {
	var interrupted time.Time
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.Console.Out.Err(); err != nil {
			return err
		}
		if next := r.Console.next; next != nil {
			r.Console.next = nil
			if err := next(); err != nil {
				return err
			}
		}
		prompt := r.prompt()
		text, err := r.Console.read(ctx, prompt)
		switch {
		case ctx.Err() != nil:
			r.Console.Out.Fresh()
			return context.Cause(ctx)
		case errors.Is(err, errInterrupt):
			if !interrupted.IsZero() && time.Since(interrupted) < leaveWithin {
				r.Console.Out.Fresh()
				return nil
			}
			interrupted = time.Now()
			if strings.HasSuffix(prompt, output.Shell) {
				r.Console.Out.Line(output.Info, "a lone ! ends shell mode, Ctrl-C again or Ctrl-D the session")
			} else {
				r.Console.Out.Line(output.Info, "Ctrl-C again, Ctrl-D or /quit ends the session")
			}
			continue
		case errors.Is(err, line.ErrCleared):
			continue
		case err == io.EOF:
			r.Console.Out.Fresh()
			return nil
		case err != nil:
			return err
		}
		interrupted = time.Time{}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		r.Console.Out.Mark(output.AnswerMark)
		err = r.Do(ctx, text)
		quit := errors.Is(err, input.ErrQuit)
		r.Console.Out.Fresh()
		if err != nil && !quit || r.stopped {
			r.Console.Out.Mark(output.FailureMark)
		} else {
			r.Console.Out.Mark(output.SuccessMark)
		}
		if quit {
			return nil
		}
		switch {
		case r.stopped || errors.Is(err, errInterrupt):
			r.Console.Terminal.Stopped("stop")
			r.unsent("stopped")
		case err != nil && r.queued:
			r.Console.Terminal.Stopped("error")
			r.unsent("failed")
		}
	}
}

func (r *REPL) prompt() string {
	if r.Prompt == nil {
		return output.Ready
	}
	return r.Prompt()
}

// report prints an error, and advice on a separate line. A cancellation needs no more than its done
// line.
func (r *REPL) report(err error) {
	if errors.Is(err, errInterrupt) {
		r.Console.Out.Line(output.Info, "cancelled")
		return
	}
	o := report.Outcome{Err: err}
	if r.Outcome != nil {
		o = r.Outcome(err)
	}
	text := strings.TrimSpace(o.Complete().Message)
	if o.Hint != "" {
		text += "\nhint: " + output.FirstLine(o.Hint)
	}
	r.Console.Out.Line(output.Failure, "%s", text)
}

// Do carries out one input. Ctrl-C stops the input, but not the session. Lines typed meanwhile are
// queued, or sent to the model. Do prints an error before it returns the error.
func (r *REPL) Do(ctx context.Context, text string) error {
	r.stopped, r.queued = false, false
	r.Console.Terminal.Quiet(true)
	defer r.Console.Terminal.Quiet(false)
	ctx, stop := r.Console.untilGone(ctx)
	defer stop()
	parts, err := r.expand(ctx, text)
	if err != nil && ctx.Err() == nil && !errors.Is(err, input.ErrQuit) {
		r.report(err)
	}
	if err != nil || len(parts) == 0 {
		return err
	}
	return r.turn(ctx, parts)
}

func (r *REPL) expand(ctx context.Context, text string) ([]*genai.Part, error) {
	parts := []*genai.Part{genai.NewPartFromText(text)}
	if r.Expand == nil {
		return parts, nil
	}
	inner, stop := r.Console.interruptible(ctx)
	defer stop()
	parts, err := r.Expand(inner, parts)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(inner), errInterrupt) &&
		!errors.Is(err, input.ErrQuit) {
		return nil, errInterrupt
	}
	return parts, err
}
