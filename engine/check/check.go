// Package check runs a command after the model's work, and has the model fix the faults that the
// command finds. A first caller wraps a Run with [Config.Wrap].
//
// # After the work
//
// A [Run] checks at the end of an answer if files may have changed: by a tool that edits, by
// a command that was not confined to read-only, or by a tool of unknown effect. An answer
// alone is not checked.
//
// # A failed check is an error
//
// The output of a failed command is the next message to the model, a few times. A Run whose last
// check fails ends with an [*Error], whatever the model says.
//
// # The caller runs the command
//
// [Config.Run] starts the command, bounds its output and ends all its processes with the
// context.
package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Config names the command that checks, and the changes it checks.
type Config struct {
	Command string // as the user knows it

	// MaxRepairs is how often the model gets the findings, to fix them.
	MaxRepairs int

	// Run runs the command once. The Result's text is for the model; code is the exit code. A
	// failed check is an error, such as an [*engine.CallError].
	Run func(ctx context.Context) (res engine.Result, code int, err error)

	// Kind returns the kind of a tool.
	Kind func(name string) engine.Kind
}

// An Error is the error of a Run whose last check failed.
type Error struct {
	Command string
	Why     string // such as "exit 2"
}

// Error returns one line.
func (e *Error) Error() string { return fmt.Sprintf("the check is red: %s: %s", e.Command, e.Why) }

// Hint names the flag for more repairs.
func (*Error) Hint() string { return "--check-rounds N lets the model mend its findings more often" }

// id is the check's ID among the running calls.
const id = "check"

// Wrap returns a Run that yields the events of run, and checks the work. Each check is an
// [engine.CallStarted], its output, and an [engine.CheckFinished]. Without a command Wrap returns
// run.
func (c Config) Wrap(run engine.Run) engine.Run {
	if c.Command == "" {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		w := work{Config: c, yield: yield}
		if err := w.do(ctx, run, parts); err != nil && !w.consumerGone {
			yield(nil, err)
		}
	})
}

// work holds the checks and repairs of one prompt.
type work struct {
	Config
	yield        func(engine.Event, error) bool
	consumerGone bool // the consumer has left
	changed      bool // files may have changed since the last check
}

// do sends parts to the model, and then the findings of the check. The caller yields its error.
func (w *work) do(ctx context.Context, run engine.Run, parts []*genai.Part) error {
	var red *Error // of the last check
	for round := 1; ; round++ {
		w.changed = false
		for ev, err := range run(ctx, parts...) {
			if err != nil {
				return err
			}
			w.watch(ev)
			if !w.tell(ev) {
				return nil
			}
		}
		if !w.changed { // so a check would find the same
			if red == nil {
				return nil
			}
			return red
		}
		res, why, err := w.check(ctx, round)
		if err != nil || w.consumerGone || why == "" {
			return err
		}
		if red = (&Error{Command: w.Command, Why: why}); round > w.MaxRepairs {
			return red
		}
		parts = []*genai.Part{{Text: engine.MidTurnNote(fmt.Sprintf(message, why, res))}}
	}
}

// message tells the model of a failed check.
const message = "The work is not done: the check failed (%s). Mend its findings. It printed:\n\n%s"

// watch notes whether files may have changed.
func (w *work) watch(ev engine.Event) {
	_, said := engine.Unnest(ev)
	f, ok := said.(engine.CallFinished)
	if !ok {
		return
	}
	switch w.Kind(f.Name) {
	case engine.Edit:
		w.changed = w.changed || f.Err == nil
	case engine.Execute:
		w.changed = w.changed || f.Took > 0 && !f.Intent.Plan.IsReadOnly
	case engine.Other:
		w.changed = w.changed || f.Took > 0
	}
	w.changed = w.changed || len(f.Result.Changes) > 0
}

// check runs the command. It returns the output for the model, and why the check failed, "" if it
// passed. The error is ctx's.
func (w *work) check(ctx context.Context, round int) (text, why string, err error) {
	title := "check: " + w.Command
	if !w.tell(engine.CallStarted{ID: id, Name: id, Intent: engine.Intent{Title: title}}) {
		return "", "", nil
	}
	start := time.Now()
	res, code, rerr := w.Run(ctx)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if res.Display != "" && !w.tell(engine.Output{ID: id, Delta: res.Display}) {
		return "", "", nil
	}
	if rerr != nil {
		why = strings.TrimPrefix(engine.DisplayError(rerr), "failed ")
	}
	w.tell(engine.CheckFinished{ID: id, Command: w.Command, Round: round, Code: code, Err: rerr, Took: time.Since(start)})
	return res.Text, why, nil
}

// tell yields an event, and reports whether the consumer continues.
func (w *work) tell(ev engine.Event) bool {
	w.consumerGone = w.consumerGone || !w.yield(ev, nil)
	return !w.consumerGone
}
