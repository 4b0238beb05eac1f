package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/input"
	"gemline/repl/internal/line"
	"gemline/repl/output"
	"gemline/repl/report"
)

// Lines is where lines come from. It must not be used concurrently.
type Lines interface {
	// Read shows prompt and returns an input, which may be of several lines.
	// It returns io.EOF at the end of the input.
	Read(ctx context.Context, prompt string) (string, error)

	// Ask shows a question and returns its one-line answer, which is never what
	// was typed before. Secret does so without showing the answer.
	Ask(ctx context.Context, question string) (string, error)
	Secret(ctx context.Context, question string) (string, error)
}

// A Terminal is what the lines are typed at.
type Terminal interface {
	// Quiet says whether what is typed between two lines is hidden until the
	// next one.
	Quiet(on bool)

	// Stopped says that the user has stopped what went on: what was typed
	// meanwhile is not the next line.
	Stopped()

	// Echoes reports whether what is typed is shown right now. It may be called
	// on any goroutine.
	Echoes() bool

	// Lend leaves the terminal to use.
	Lend(use func())
}

// A Console is the user's end: what is shown, what is typed, and Ctrl-C.
type Console struct {
	Lines    Lines
	Terminal Terminal
	Out      *output.Writer

	// Interrupts carries a value for each Ctrl-C that the editor does not
	// see. It should hold one at least.
	Interrupts <-chan os.Signal

	// Notifier calls for attention; it may be nil.
	Notifier *Notifier

	// Stable puts the same words at the end of every question, for programs
	// that wait for them.
	Stable bool

	// Spoken says that the user listens to what is shown, and Short that
	// nothing is to be shown that does not change.
	Spoken, Short bool

	// Shared says that others write to the terminal, too, so that a question
	// begins on a line of its own only if it makes sure of that.
	Shared bool

	// Gone reports whether the terminal has gone away, which also looks like
	// the end of the input. It is nil where there is none.
	Gone func() bool

	next func() error // done before the next line is read
}

// attention calls for it.
func (c *Console) attention(event, text string) {
	if c.Notifier != nil {
		c.Notifier.Notify(Alert{Event: event, Text: text})
	}
}

// errInterrupt is the cause of a context that Ctrl-C has ended.
var errInterrupt = line.ErrInterrupt

// interruptible returns a context that Ctrl-C ends with errInterrupt. The
// caller must call stop, which waits for whoever listens.
func (c *Console) interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-c.Interrupts:
			if c.Terminal.Echoes() {
				c.Out.Touched() // the terminal shows ^C
			}
			cancel(errInterrupt)
		case <-quit:
		}
	}()
	return ctx, func() { close(quit); <-gone; cancel(nil) }
}

// read reads an input from the user.
func (c *Console) read(ctx context.Context, prompt string) (string, error) {
	ctx, stop := c.interruptible(ctx)
	defer stop()
	return c.Lines.Read(ctx, prompt)
}

// ask puts a question to the user.
func (c *Console) ask(ctx context.Context, question string) (string, error) {
	if c.Stable {
		c.Out.Line(output.Info, "%s", strings.TrimSuffix(question, ": "))
		question = stableQuestion
	}
	ctx, stop := c.interruptible(ctx)
	defer stop()
	return c.Lines.Ask(ctx, question)
}

// stableQuestion is what every question ends with where programs wait for it.
const stableQuestion = "answer: "

// A REPL reads, expands, runs and prints until the user has had enough.
type REPL struct {
	*Console
	Prompt  func() string // shown before each line; "> " if nil
	Expand  input.Processor
	Run     engine.Run
	Printer *Printer
	Asker   *Asker // the engine's approver, if it asks at this terminal

	// Outcome, if not nil, says in the user's words what went wrong, and
	// what to do about it.
	Outcome func(error) report.Outcome

	stopped bool // the user has stopped the last turn
}

// leaveWithin is how soon a second Ctrl-C must follow to end the session.
const leaveWithin = 3 * time.Second

// Loop runs until the input ends or a command quits, and then returns nil; or
// until ctx or the output ends, and then says why.
func (r *REPL) Loop(ctx context.Context) error {
	var interrupted time.Time
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.Out.Err(); err != nil {
			return err
		}
		if next := r.next; next != nil {
			r.next = nil
			if err := next(); err != nil {
				return err
			}
		}
		text, err := r.read(ctx, r.prompt())
		switch {
		case ctx.Err() != nil:
			r.Out.Fresh()
			return context.Cause(ctx)
		case errors.Is(err, errInterrupt):
			if !interrupted.IsZero() && time.Since(interrupted) < leaveWithin {
				r.Out.Fresh()
				return nil
			}
			interrupted = time.Now()
			r.Out.Line(output.Info, "Ctrl-C again, Ctrl-D or /quit ends the session")
			continue
		case errors.Is(err, line.ErrCleared):
			continue
		case err == io.EOF:
			r.Out.Fresh()
			return nil
		case err != nil:
			return err
		}
		interrupted = time.Time{}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		r.Out.Mark(output.AnswerMark)
		err = r.Do(ctx, text)
		quit := errors.Is(err, input.ErrQuit)
		r.Out.Fresh()
		if err != nil && !quit || r.stopped {
			r.Out.Mark(output.FailureMark)
		} else {
			r.Out.Mark(output.SuccessMark)
		}
		if quit {
			return nil
		}
		if r.stopped || errors.Is(err, errInterrupt) {
			r.Terminal.Stopped()
		}
	}
}

func (r *REPL) prompt() string {
	if r.Prompt == nil {
		return output.Ready
	}
	return r.Prompt()
}

// report tells the user of an error, and on a line of its own what to do. A
// cancellation needs no more words than its done line has.
func (r *REPL) report(err error) {
	if errors.Is(err, errInterrupt) {
		r.Out.Line(output.Info, "cancelled")
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
	r.Out.Line(output.Failure, "%s", text)
}

// Do carries out one input. Ctrl-C stops it, and not the session. What is
// typed in the meantime shows up behind the next prompt. The user is told of an
// error before it is returned.
func (r *REPL) Do(ctx context.Context, text string) error {
	r.stopped = false
	r.Terminal.Quiet(true)
	defer r.Terminal.Quiet(false)
	ctx, stop := r.witnessed(ctx)
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

// lookEvery is how often is looked whether the terminal is still there.
const lookEvery = time.Second

// errGone is the cause of a context that has lost its terminal.
var errGone = errors.New("the terminal is gone")

// witnessed returns a context that ends when the terminal goes away, which
// nobody may tell: the signal is for the first program of a session. The caller
// must call stop.
func (c *Console) witnessed(ctx context.Context) (_ context.Context, stop func()) {
	if c.Gone == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	left := make(chan struct{})
	go func() {
		defer close(left)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				if c.Gone() {
					cancel(errGone)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(nil); <-left }
}

func (r *REPL) expand(ctx context.Context, text string) ([]*genai.Part, error) {
	parts := []*genai.Part{genai.NewPartFromText(text)}
	if r.Expand == nil {
		return parts, nil
	}
	inner, stop := r.interruptible(ctx)
	defer stop()
	parts, err := r.Expand(inner, parts)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(inner), errInterrupt) && !errors.Is(err, input.ErrQuit) {
		return nil, errInterrupt
	}
	return parts, err
}
