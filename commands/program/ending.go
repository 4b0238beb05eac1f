package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/settings"
	"gemline/tools/sandbox"
)

// crash is a panic that was recovered.
type crash struct{ value any }

// Error returns one line: what follows the first is where it happened.
func (c *crash) Error() string {
	what, _, _ := strings.Cut(fmt.Sprint(c.value), "\n")
	return fmt.Sprintf("a bug in gemline: %.500s", what)
}

// unwritten is the error of a run whose output can't be written, or that nobody
// reads any more.
func unwritten(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return signalled(syscall.SIGPIPE)
	}
	if errors.As(err, new(*report.DestinationError)) {
		return err
	}
	where := "standard output"
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		if err = pe.Err; strings.HasPrefix(pe.Path, "descriptor ") {
			where = pe.Path
		}
	}
	return fmt.Errorf("%s: %w", where, err)
}

// finish reports how the run ended and returns the exit code.
func (r *run) finish(ctx context.Context, reporter report.Reporter, err error) int {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) && pe.Path == r.os.Stdout.Name() { // of what needs no run
		err = unwritten(err)
	}
	o, left := r.ended(err), r.ended(signalled(syscall.SIGPIPE)).ExitCode
	if o.Silent {
		left = o.ExitCode
	}
	o = r.redactedOutcome(o)
	o.Hurry = r.left.Load()
	werr := reporter.Finish(o)
	switch {
	case o.Silent:
		return left
	case errors.Is(werr, syscall.EPIPE):
		return left
	case werr != nil && err == nil:
		fmt.Fprintf(r.os.Stderr, "error: %v\n", unwritten(werr))
		return 1
	}
	return o.ExitCode
}

// ended is the outcome of a run that ended with err. That nobody reads what it
// writes is told to nobody, and is no failure with --pipe-ok.
func (r *run) ended(err error) report.Outcome {
	o := outcome(err)
	if err != signalled(syscall.SIGPIPE) {
		return o
	}
	if r.flags.PipeOK {
		o = report.Outcome{Reason: o.Reason}
	}
	o.Silent = true
	return o
}

// outcome classifies what went wrong, once: the exit code, the reason that a
// record gives, and the class that scripts written for the Gemini CLI know.
func outcome(err error) report.Outcome {
	o := report.Outcome{Err: err}
	set := func(code int, reason, class string) { o.ExitCode, o.Reason, o.ErrorType = code, reason, class }
	var (
		sig   signalled
		bug   *crash
		usage *settings.UsageError
		file  *settings.FileError
		never *settings.ForbiddenError
		unfit *settings.UnsupportedError
		words *commands.Error
		alien *settings.UntrustedError
		gone  *cli.NoSessionError
		busy  *journal.BusyError
		in    *input.Error
		over  *engine.OverflowError
		call  *engine.CallError
		unmet *report.UnmetError
		half  *report.TruncatedError
		again *report.RestartError
		asked *model.Error
		broke *auth.Error
		spent *limit.Error
		table *limit.PricesError
		rules *policy.FileError
		loose *sandbox.Error
		ended *cli.StatusError
	)
	switch {
	case err == nil:
	case errors.As(err, &sig):
		set(128+int(sig), strings.ToLower(signalName(syscall.Signal(sig))), "FatalCancellationError")
	case errors.As(err, &bug):
		set(70, "internal", "InternalError")
		o.Hint = "please report this; -d shows where it happened"
	case errors.As(err, &usage):
		set(2, "usage", "UsageError")
	case errors.As(err, &spent):
		o.Message, o.Hint = spent.Message, spent.Hint
		switch spent.Kind {
		case limit.Time:
			set(63, "timeout", "FatalTimeoutError")
		case limit.Calls:
			set(64, "max_tool_calls", "FatalToolCallLimitedError")
		default:
			set(62, spent.Kind.String(), "FatalBudgetExceededError")
		}
	case errors.As(err, &unfit):
		set(52, "unsupported", "FatalConfigError")
		o.Hint = unfit.Hint()
	case errors.As(err, &file), errors.As(err, &never), errors.As(err, &table), errors.As(err, &rules):
		set(52, "config", "FatalConfigError")
	case errors.As(err, &ended):
		set(ended.Code, "status", "")
		o.Silent = ended.Err == nil
	case errors.As(err, &loose):
		set(44, "sandbox", "FatalSandboxError")
		o.Hint = loose.Hint
	case errors.As(err, &alien):
		set(55, "untrusted", "FatalUntrustedWorkspaceError")
		o.Hint = alien.Hint()
	case errors.As(err, &words) && words.Misused:
		set(2, "usage", "UsageError")
	case errors.As(err, &words), errors.As(err, &in), errors.As(err, &gone), errors.As(err, &busy):
		set(42, "input", "FatalInputError")
	case errors.As(err, &over):
		set(42, "context_overflow", "ContextOverflowError")
		o.Hint = model.HintOverflow
	case errors.Is(err, engine.ErrMaxTurns):
		set(53, "max_turns", "FatalTurnLimitedError")
		o.Hint = "--max-turns sets the limit"
	case errors.Is(err, batch.ErrFailed):
		set(1, "items_failed", "BatchError")
	case errors.Is(err, question.ErrAsked):
		set(60, "approval_needed", "ApprovalNeededError")
	case errors.Is(err, question.ErrDenied):
		set(61, "denied", "PolicyDeniedError")
		o.Hint = "without --fail-on-deny the model is told, and the run goes on"
	case errors.As(err, &unmet):
		set(65, unmet.Reason, "AnswerMismatchError")
	case errors.As(err, &half):
		set(66, "cut_short", "INVALID_STREAM")
		o.Hint = `ask for the rest: gemline --resume latest -p "go on"`
	case errors.As(err, &again):
		set(68, "restarted", "NetworkError")
		o.Hint = again.Hint()
	case errors.As(err, &call) && call.Type == engine.NoSpaceLeft:
		set(54, "tool", "FatalToolExecutionError")
	case errors.As(err, &asked):
		o.Message, o.Hint, o.HTTP, o.RetryAfter = asked.Message, asked.Hint, asked.HTTP, asked.RetryAfter
		set(1, asked.Kind.String(), "unknown")
		switch asked.Kind {
		case model.Config:
			set(52, "config", "FatalConfigError")
		case model.Auth:
			set(41, "auth", "FatalAuthenticationError")
		case model.Overflow:
			set(42, "context_overflow", "ContextOverflowError")
		case model.Refused, model.Invalid:
			set(66, asked.Kind.String(), "INVALID_STREAM")
		case model.Quota:
			set(67, "quota", "QuotaError")
		case model.Unavailable:
			set(68, "unavailable", "NetworkError")
		}
	case errors.As(err, &broke):
		o.Hint = broke.Hint
		if set(41, "auth", "FatalAuthenticationError"); broke.Config {
			set(52, "config", "FatalConfigError")
		}
	case errors.Is(err, context.Canceled):
		set(130, "cancelled", "FatalCancellationError")
	default:
		set(1, "error", "Error")
	}
	return o
}

// newTally returns the count of nothing yet.
func newTally() *tally.Tally { return &tally.Tally{Class: errorClass} }

// errorClass names the class of a failed request for the statistics.
func errorClass(err error) string {
	if e := (*limit.Error)(nil); errors.As(err, &e) && e.Unsent {
		return ""
	}
	return outcome(err).Reason
}
