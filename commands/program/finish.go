package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"gemline/engine"
	"gemline/repl/report"
)

// finish reports how the run ended and returns the exit code.
func (r *run) finish(ctx context.Context, reporter report.Reporter, err error) int {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == r.opts.Env.Process.Stdout.Name() { // of what needs no run
		err = unwritten(err)
	}
	o, left := r.ended(err), r.ended(signalled(syscall.SIGPIPE)).ExitCode
	if o.Silent {
		left = o.ExitCode
	}
	o = redacted(o, r.opts.Secrets)
	o.Hurry = r.abandoned.Load()
	werr := reporter.Finish(o)
	switch {
	case o.Silent:
		return left
	case errors.Is(werr, syscall.EPIPE):
		return left
	case werr != nil && err == nil:
		fmt.Fprintf(r.opts.Env.Process.Stderr, "error: %v\n", unwritten(werr))
		return 1
	}
	return o.ExitCode
}

// ended is the outcome of a run that ended with err. That nobody reads what it
// writes is told to nobody, and is no failure with --pipe-ok.
func (r *run) ended(err error) report.Outcome {
	o := outcome(err)
	if goOn := r.status.resume(); goOn != "" && errors.Is(err, engine.ErrMaxTurns) {
		o.Hint = goOn + " goes on; " + o.Hint
	}
	if err != signalled(syscall.SIGPIPE) {
		return o
	}
	if r.opts.Flags.PipeOK {
		o = report.Outcome{Reason: o.Reason}
	}
	o.Silent = true
	return o
}
