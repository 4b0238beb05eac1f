package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/parallel"
	"gemline/engine/tally"
	"gemline/repl/internal/line"
	"gemline/repl/internal/turn"
	"gemline/repl/output"
	"gemline/repl/question"
)

// A Console is the user's end: output, input, and Ctrl-C.
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

	// Spoken says that the user listens to the output, and Short that
	// nothing is to be shown that does not change.
	Spoken, Short bool

	// Interleaved says that others write to the terminal, too, so that a question
	// may have to begin a new line first.
	Interleaved bool

	Sharing Sharing

	next func() error // done before the next line is read
}

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
	// Quiet says whether text typed between two lines is hidden until the
	// next one.
	Quiet(on bool)

	// Stopped says that a turn has ended before its time, by a "stop" of the user's
	// or an "error": text typed meanwhile is not the next line.
	Stopped(by string)

	// Listen reads the lines that are typed until stop is called: came gets a value when there
	// are lines, and HandleTyped then passes them to take. Lines that are not taken are the next
	// input.
	Listen(take func(lines []string) []LineAction) (came <-chan struct{}, stop func() (queued []string))
	HandleTyped()

	// Enter has a line come next, as if it had been typed.
	Enter(line string)

	// Keep puts an input that nobody sends into the history.
	Keep(text string)

	// Echoes reports whether typed text is shown right now. It may be called
	// on any goroutine.
	Echoes() bool

	// Lend leaves the terminal to use.
	Lend(use func())
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

// Wait runs work outside of a turn, and shows what work passes to show. Ctrl-C cancels the work,
// which is an error. From time to time it prints the words of doing.
func (c *Console) Wait(ctx context.Context, doing func() string, work Work) error {
	inner, stop := c.interruptible(ctx)
	defer stop()
	began, progress := time.Now(), time.NewTimer(firstProgress)
	defer progress.Stop()
	desk := make(turn.Desk)
	desk.Beside(func() { work(inner, desk.Do) }, func() {
		for {
			select {
			case f, ok := <-desk:
				if !ok {
					return
				}
				f()
			case now := <-progress.C:
				c.Out.Line(output.Progress, "%s, %s", tally.Duration(now.Sub(began)), doing())
				progress.Reset(nextProgress)
			}
		}
	})
	if ctx.Err() == nil && context.Cause(inner) == errInterrupt {
		return errInterrupt
	}
	return nil
}

// Work is a task that takes some time. It prints by show, which waits until the printing is
// done.
type Work func(ctx context.Context, show func(func()))

// read reads an input from the user.
func (c *Console) read(ctx context.Context, prompt string) (string, error) {
	ctx, stop := c.interruptible(ctx)
	defer stop()
	return c.shared(ctx, prompt, false, c.Lines.Read)
}

// Line asks for a line, which may be empty.
func (c *Console) Line(ctx context.Context, question string) (string, error) {
	if c.Stable {
		c.Out.Line(output.Info, "%s", strings.TrimSuffix(question, ": "))
		question = stableQuestion
	}
	ctx, stop := c.interruptible(ctx)
	defer stop()
	return c.shared(ctx, question, true, func(ctx context.Context, question string) (string, error) {
		return c.Lines.Ask(ctx, c.Out.Head(question))
	})
}

// stableQuestion is what every question ends with where programs wait for it.
const stableQuestion = "answer: "

// invalidAnswers is how many answers that are no choice end a question.
const invalidAnswers = 3

// insist puts a question until take accepts the typed line, and reports
// whether it did. From the second time on the question is in the words of again.
// Take may name the problem of an answer. Three unaccepted answers in a row, or the
// end of the input, count as otherwise. Ctrl-C is an error.
func (c *Console) insist(ctx context.Context, question, again, otherwise string,
	take func(string) (ok bool, problem string)) (bool, error) {
	ok, err := c.repeat(ctx, question, again, otherwise, take)
	if err != nil {
		return false, c.unanswered(err, otherwise)
	}
	return ok, nil
}

// repeat is insist, but the end of the input is an error, too.
func (c *Console) repeat(ctx context.Context, question, again, otherwise string,
	take func(string) (ok bool, problem string)) (bool, error) {
	for invalid := 0; ; question = again {
		s, err := c.Line(ctx, question)
		if err != nil {
			return false, err
		}
		ok, problem := take(s)
		if ok {
			return true, nil
		}
		if problem == "" {
			invalid = 0
			continue
		}
		if invalid++; invalid == invalidAnswers {
			c.Out.Line(output.Warning, "%d answers in a row were none of the choices, which means %s", invalidAnswers, otherwise)
			return false, nil
		}
		c.Out.Line(output.Info, "%s", problem)
	}
}

// unanswered tells what the end of the input means, or returns the error that
// ends the turn.
func (c *Console) unanswered(err error, otherwise string) error {
	switch {
	case err == io.EOF && c.Sharing.gone() && !c.Sharing.IsLeft(): // nobody has said no
		return fmt.Errorf("%w: the terminal is gone", context.Canceled)
	case err == io.EOF:
		c.Out.Line(output.Info, "the input has ended, which means %s", otherwise)
		return nil
	case errors.Is(err, line.ErrInterrupt), errors.Is(err, line.ErrCleared):
		return &unansweredError{errInterrupt}
	}
	return err
}

// An unansweredError is a question that the user has left, which ends the turn.
type unansweredError struct{ why error }

// Error implements [error].
func (e *unansweredError) Error() string { return "the question was not answered" }

// Unwrap returns the cancellation and its cause.
func (e *unansweredError) Unwrap() []error { return []error{context.Canceled, e.why} }

// continued returns s with the lines that follow it, if it ends with a
// backslash.
func (c *Console) continued(ctx context.Context, s string) (_ string, ok bool, err error) {
	if (len(s)-len(strings.TrimRight(s, `\`)))%2 == 0 {
		return s, true, nil
	}
	more, err := c.read(ctx, line.More)
	if err != nil {
		return "", false, c.unanswered(err, noAnswer)
	}
	return s[:len(s)-1] + "\n" + more, true, nil
}

// yesNo ends a question that is answered so.
const yesNo = "y or n: "

// Confirm asks something that is answered yes or no. Anything but a yes is a
// no; Ctrl-C is an error.
func (c *Console) Confirm(ctx context.Context, about string) (yes bool, err error) {
	c.Out.Line(output.Permission, "%s", about)
	_, err = c.insist(ctx, yesNo, yesNo, "no", func(s string) (bool, string) {
		if s = strings.TrimSpace(s); s == "" {
			return true, ""
		}
		reply, problem := question.YesNo(s)
		yes = reply == engine.Yes
		return problem == "", problem
	})
	return yes, err
}

// lookEvery is how often is looked whether the terminal is still there.
const lookEvery = time.Second

// errGone is the cause of a context that has lost its terminal.
var errGone = errors.New("the terminal is gone")

// untilGone returns a context that ends when the terminal goes away. It looks for
// itself, since the signal goes to the first program of a session only. The
// caller must call stop.
func (c *Console) untilGone(ctx context.Context) (_ context.Context, stop func()) {
	if c.Sharing.Gone == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	end := parallel.Every(lookEvery, func() {
		if c.Sharing.Gone() && !c.Sharing.HungUp() {
			cancel(errGone)
		}
	})
	return ctx, func() { cancel(nil); end() }
}
