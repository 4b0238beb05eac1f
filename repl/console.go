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

// A Console is the user's side: output, input, and Ctrl-C.
type Console struct {
	Lines    Lines
	Terminal Terminal
	Out      *output.Writer

	// Interrupts gets a value for each Ctrl-C that the line editor does not see. Its buffer holds
	// at least one.
	Interrupts <-chan os.Signal

	// Notifier calls for attention; it may be nil.
	Notifier *Notifier

	// Stable ends every question with the same words, for programs that wait for them.
	Stable bool

	// Spoken is set if the user listens to the output. Short hides lines that do not change.
	Spoken, Short bool

	// Interleaved is set if other programs also write to the terminal. A question may then have to
	// begin a new line.
	Interleaved bool

	Sharing Sharing

	next func() error // called before the next line is read
}

// Lines is the source of lines. It is not safe for concurrent use.
type Lines interface {
	// Read shows prompt and returns an input, which may be of several lines.
	// It returns io.EOF at the end of the input.
	Read(ctx context.Context, prompt string) (string, error)

	// Ask shows a question and returns its one-line answer. It ignores text that was typed before
	// the question. Secret is the same without echo.
	Ask(ctx context.Context, question string) (string, error)
	Secret(ctx context.Context, question string) (string, error)
}

// A Terminal is the user's keyboard during a session.
type Terminal interface {
	// Quiet hides text that is typed between two lines, until the next line.
	Quiet(on bool)

	// Stopped says that a turn ended early, by a "stop" of the user or an "error": text typed
	// meanwhile does not become the next line.
	Stopped(by string)

	// Listen reads typed lines until stop is called. Came gets a value when there are lines, and
	// HandleTyped then passes them to take. Lines that take leaves are the next input.
	Listen(take func(lines []string) []LineAction) (came <-chan struct{}, stop func() (queued []string))
	HandleTyped()

	// Enter makes a line the next input, as if it had been typed.
	Enter(line string)

	// Keep adds an input to the history without sending it.
	Keep(text string)

	// Echoes reports whether typed text is shown right now. It may be called
	// on any goroutine.
	Echoes() bool

	// Lend gives the terminal to use, while use runs.
	Lend(use func())
}

// errInterrupt is the cause of a context that Ctrl-C has ended.
var errInterrupt = line.ErrInterrupt

// interruptible returns a context that Ctrl-C ends with errInterrupt. The caller must call stop,
// which waits for the listening goroutine.
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

// Wait runs work outside of a turn, and calls the functions that work passes to show. Ctrl-C
// cancels the work, which is an error. From time to time it prints the words of doing.
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

// Work is a task that takes some time. It prints by show, which returns after the printing.
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

// stableQuestion ends every question for programs that wait for it.
const stableQuestion = "answer: "

// invalidAnswers is how many invalid answers end a question.
const invalidAnswers = 3

// insist asks a question until take accepts the typed line, and reports whether it did. Repetitions
// use the words of again. Take may return the problem of an answer. After three invalid answers, or
// at the end of the input, insist prints otherwise and returns false. Ctrl-C is an error.
func (c *Console) insist(ctx context.Context, question, again, otherwise string,
	take func(string) (ok bool, problem string)) (bool, error) {
	ok, err := c.repeat(ctx, question, again, otherwise, take)
	if err != nil {
		return false, c.unanswered(err, otherwise)
	}
	return ok, nil
}

// repeat is insist, but the end of the input is also an error.
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

// unanswered prints the meaning of the end of the input, or returns the error that ends the turn.
func (c *Console) unanswered(err error, otherwise string) error {
	switch {
	case err == io.EOF && c.Sharing.gone() && !c.Sharing.IsLeft(): // the user has not refused
		return fmt.Errorf("%w: the terminal is gone", context.Canceled)
	case err == io.EOF:
		c.Out.Line(output.Info, "the input has ended, which means %s", otherwise)
		return nil
	case errors.Is(err, line.ErrInterrupt), errors.Is(err, line.ErrCleared):
		return &unansweredError{errInterrupt}
	}
	return err
}

// An unansweredError is a question that the user left unanswered, which ends the turn.
type unansweredError struct{ why error }

// Error implements [error].
func (e *unansweredError) Error() string { return "the question was not answered" }

// Unwrap returns the cancellation and its cause.
func (e *unansweredError) Unwrap() []error { return []error{context.Canceled, e.why} }

// continued returns s and the lines after it, if s ends with a backslash.
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

// yesNo ends a question with the answer yes or no.
const yesNo = "y or n: "

// Confirm asks a question with the answer yes or no. Anything but a yes is a no; Ctrl-C is an
// error.
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

// pollInterval is the interval of checks whether the terminal still exists.
const pollInterval = time.Second

// errGone is the cause of a context that ends because the terminal has gone.
var errGone = errors.New("the terminal is gone")

// untilGone returns a context that ends when the terminal goes away. It polls the terminal, since
// only the first program of a terminal session gets the signal. The caller must call stop.
func (c *Console) untilGone(ctx context.Context) (_ context.Context, stop func()) {
	if c.Sharing.Gone == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	end := parallel.Every(pollInterval, func() {
		if c.Sharing.Gone() && !c.Sharing.HungUp() {
			cancel(errGone)
		}
	})
	return ctx, func() { cancel(nil); end() }
}
