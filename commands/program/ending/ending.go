// Package ending says how a run ends: [Of] classifies an error, by one table, into an exit
// code, a reason and a class. It is asked once, when everything else is over.
package ending

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/check"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/loop"
	"gemline/engine/model"
	"gemline/engine/model/preset"
	"gemline/engine/policy"
	"gemline/engine/redact"
	"gemline/engine/tally"
	"gemline/repl/batch"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
	"gemline/settings/trust"
	"gemline/tools/sandbox"
	"gemline/tools/worktree"
)

// Crash is a panic that was recovered.
type Crash struct {
	Value         any    // what panic was called with
	ResumeCommand string // the command that resumes the session, "" if nothing of it is stored
}

// Error returns the first line: further lines tell where the crash happened.
func (c *Crash) Error() string {
	what, _, _ := strings.Cut(fmt.Sprint(c.Value), "\n")
	return fmt.Sprintf("a bug in gemline: %.500s", what)
}

// Hint says how to proceed.
func (c *Crash) Hint() string {
	hint := "please report this; -d shows where it happened"
	if c.ResumeCommand != "" {
		hint = "go on with " + c.ResumeCommand + "; " + hint
	}
	return hint
}

// OutputError is the error of a run whose output can't be written, or that nobody reads any more.
func OutputError(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return Signal(syscall.SIGPIPE)
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

// Of classifies an error, once: into the exit code, the reason for the records, and the class that
// scripts written for the Gemini CLI know.
func Of(err error) report.Outcome {
	o := report.Outcome{Err: err}
	if err == nil {
		return o
	}
	for _, ends := range endings {
		if ends(err, &o) {
			return hinted(o)
		}
	}
	end{1, "error", "Error"}.set(&o)
	return hinted(o)
}

// hinted adds the hint of an error, or of a wrapped error, to an outcome without a hint.
func hinted(o report.Outcome) report.Outcome {
	var h interface {
		error
		Hint() string
	}
	for err := o.Err; o.Hint == "" && errors.As(err, &h); err = errors.Unwrap(h) {
		o.Hint = h.Hint()
	}
	return o
}

// An end is the exit code, the reason and the class of an outcome.
type end struct {
	code          int
	reason, class string
}

// set copies e into o.
func (e end) set(o *report.Outcome) { o.ExitCode, o.Reason, o.ErrorType = e.code, e.reason, e.class }

// endings are the ends of runs, by error. The first row that matches an error counts.
var endings = []func(error, *report.Outcome) bool{
	as(end{0, "", "FatalCancellationError"}, func(e Signal, o *report.Outcome) {
		o.ExitCode, o.Reason = 128+int(e), strings.ToLower(signalName(syscall.Signal(e)))
	}),
	as[*Crash](end{70, "internal", "InternalError"}, nil),
	as[*flags.UsageError](usageEnd, nil),
	as(end{62, "", "FatalBudgetExceededError"}, func(e *limit.Error, o *report.Outcome) {
		o.Message, o.Reason = e.Message, e.Kind.String()
		if special, ok := limitEnds[e.Kind]; ok {
			special.set(o)
		}
	}),
	as[*project.UnusableHookError](end{52, "unsupported", "FatalConfigError"}, nil),
	as[*project.DiscoveryError](configEnd, nil),
	as[*jsonc.Error](configEnd, nil),
	as[*settings.ForbiddenError](configEnd, nil),
	as[*limit.UnpricedError](inputEnd, nil),
	as[*limit.PricesError](configEnd, nil),
	as[*preset.Error](configEnd, nil),
	as[*policy.FileError](configEnd, nil),
	as(end{0, "status", ""}, func(e *cli.StatusError, o *report.Outcome) {
		o.ExitCode,
			o.Silent = e.Code, e.Err == nil
	}),
	as[*sandbox.Error](end{44, "sandbox", "FatalSandboxError"}, nil),
	as[*trust.RefusedError](end{55, "untrusted", "FatalUntrustedWorkspaceError"}, nil),
	as(inputEnd, func(e *commands.Error, o *report.Outcome) {
		if e.Misused {
			usageEnd.set(o)
		}
	}),
	as[*input.Error](inputEnd, nil),
	as[*cli.NoSessionError](inputEnd, nil),
	as(inputEnd, func(e *worktree.Error, o *report.Outcome) {
		if e.Unknown {
			usageEnd.set(o)
		}
	}),
	as[*journal.BusyError](inputEnd, nil),
	as[*journal.NewerFormatError](inputEnd, nil),
	as[*engine.OverflowError](overflowEnd, nil),
	as[*check.Error](end{71, "check_failed", "CheckFailedError"}, nil),
	as[*loop.Error](end{69, "loop", "LoopDetectedError"}, nil),
	is(engine.ErrMaxTurns, end{53, "max_turns", "FatalTurnLimitedError"},
		"--max-turns or model.maxSessionTurns sets the limit"),
	is(batch.ErrFailed, end{1, "items_failed", "BatchError"}, ""),
	is(question.ErrAsked, end{60, "approval_needed", "ApprovalNeededError"}, ""),
	is(question.ErrDenied, end{61, "denied", "PolicyDeniedError"},
		"without --fail-on-deny the model is told, and the run goes on"),
	as(end{65, "", "AnswerMismatchError"}, func(e *report.UnmetError, o *report.Outcome) { o.Reason = e.Reason }),
	as[*report.TruncatedError](end{66, "cut_short", "INVALID_STREAM"}, nil),
	as[*report.RestartError](end{68, "restarted", "NetworkError"}, nil),
	func(err error, o *report.Outcome) bool {
		e := (*engine.CallError)(nil)
		full := errors.As(err, &e) && e.Type == engine.NoSpaceLeft
		if full {
			end{54, "tool", "FatalToolExecutionError"}.set(o)
		}
		return full
	},
	as(end{1, "", "unknown"}, func(e *model.Error, o *report.Outcome) {
		o.Message, o.HTTP, o.RetryAfter, o.Reason = e.Message, e.HTTP, e.RetryAfter, e.Kind.String()
		if special, ok := modelEnds[e.Kind]; ok {
			special.set(o)
		}
	}),
	as(authEnd, func(e *auth.Error, o *report.Outcome) {
		if e.Config {
			configEnd.set(o)
		}
	}),
	is(context.Canceled, end{130, "cancelled", "FatalCancellationError"}, ""),
}

// The ends that several errors have in common.
var (
	usageEnd    = end{2, "usage", "UsageError"}
	authEnd     = end{41, "auth", "FatalAuthenticationError"}
	inputEnd    = end{42, "input", "FatalInputError"}
	overflowEnd = end{42, "context_overflow", "ContextOverflowError"}
	configEnd   = end{52, "config", "FatalConfigError"}
)

// limitEnds are the ends of runs that were stopped by other limits than tokens and
// money.
var limitEnds = map[limit.Kind]end{
	limit.Time:  {63, "timeout", "FatalTimeoutError"},
	limit.Calls: {64, "max_tool_calls", "FatalToolCallLimitedError"},
}

// modelEnds are the ends of runs in which a request failed, by the kind of failure.
var modelEnds = map[model.Kind]end{
	model.Config:      configEnd,
	model.Auth:        authEnd,
	model.Overflow:    overflowEnd,
	model.Refused:     {66, model.Refused.String(), "INVALID_STREAM"},
	model.Invalid:     {66, model.Invalid.String(), "INVALID_STREAM"},
	model.Quota:       {67, "quota", "QuotaError"},
	model.Unavailable: {68, "unavailable", "NetworkError"},
}

// as is a row for errors of a type. More adds details of the error to the outcome.
func as[E error](to end, more func(E, *report.Outcome)) func(error, *report.Outcome) bool {
	return func(err error, o *report.Outcome) bool {
		var e E
		if !errors.As(err, &e) {
			return false
		}
		to.set(o)
		if more != nil {
			more(e, o)
		}
		return true
	}
}

// is is a row for one error.
func is(target error, to end, hint string) func(error, *report.Outcome) bool {
	return func(err error, o *report.Outcome) bool {
		if !errors.Is(err, target) {
			return false
		}
		to.set(o)
		o.Hint = hint
		return true
	}
}

// NewTally returns a tally that has counted nothing yet, and classifies failures by [Class].
func NewTally() *tally.Tally { return &tally.Tally{Class: Class} }

// Class names the class of a failed request for the statistics, "" if the request was not sent.
func Class(err error) string {
	if e := (*limit.Error)(nil); errors.As(err, &e) && e.Unsent {
		return ""
	}
	return Of(err).Reason
}

// Signal is the error of a run that a signal ended.
type Signal syscall.Signal

// Error names the signal.
func (s Signal) Error() string { return "stopped by " + signalName(syscall.Signal(s)) }

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	case syscall.SIGPIPE:
		return "SIGPIPE"
	case syscall.SIGQUIT:
		return "SIGQUIT"
	}
	return s.String()
}

// Redacted returns out without secrets.
func Redacted(out report.Outcome, secrets *redact.Redactor) report.Outcome {
	out.Hint = secrets.Text(out.Hint)
	if out.Message == "" && out.Err != nil {
		out.Message = out.Err.Error()
	}
	out.Message = secrets.Text(out.Message)
	return out
}
