package front

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"gemline/commands/program/ending"
	"gemline/engine"
	"gemline/engine/limit"
	"gemline/repl/report"
)

// Finish reports how the run ended and returns the exit code.
func (r *Run) Finish(ctx context.Context, reporter report.Reporter, err error) int {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == r.Options.Env.Process.Stdout.Name() { // the error of --version, --help and the lists
		err = ending.OutputError(err)
	}
	o, left := r.finalOutcome(err), r.finalOutcome(ending.Signal(syscall.SIGPIPE)).ExitCode
	if o.Silent {
		left = o.ExitCode
	}
	o = ending.Redacted(o, r.Options.Secrets)
	o.Hurry = r.abandoned.Load()
	werr := reporter.Finish(o)
	switch {
	case o.Silent:
		return left
	case errors.Is(werr, syscall.EPIPE):
		return left
	case werr != nil && err == nil:
		fmt.Fprintf(r.Options.Env.Process.Stderr, "error: %v\n", ending.OutputError(werr))
		return 1
	}
	return o.ExitCode
}

// finalOutcome returns the outcome of a run that ended with err. A closed pipe is not reported, and
// is no failure with --pipe-ok.
func (r *Run) finalOutcome(err error) report.Outcome {
	o := ending.Of(err)
	switch goOn := r.Status.StoredResumeCommand(); {
	case goOn == "":
	case errors.As(err, new(*report.TruncatedError)):
		o.Hint = "ask for the rest: " + goOn + ` -p "go on"`
	case errors.Is(err, engine.ErrMaxTurns), o.Reason == limit.Time.String():
		o.Hint = goOn + " goes on; " + o.Hint
	}
	if err != ending.Signal(syscall.SIGPIPE) {
		return o
	}
	if r.Options.Flags.PipeOK {
		o = report.Outcome{Reason: o.Reason}
	}
	o.Silent = true
	return o
}
