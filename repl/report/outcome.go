package report

import (
	"cmp"
	"time"

	"gemline/repl/output"
)

// An Outcome is the end of a run. The zero Outcome is success.
type Outcome struct {
	Err        error // nil for success
	ExitCode   int
	Reason     string // completed, max_turns, cancelled, a signal's name, auth ...
	ErrorType  string // the class of Err
	Message    string // for the user; by default the text of Err
	Hint       string // the next step; may be empty
	HTTP       int    // the server's status, 0 without an answer
	RetryAfter time.Duration
	Silent     bool // Err gets no message about the failure
	Hurry      bool // do not wait for blocked writers; the message is still printed
}

// Failed reports whether o is a failure.
func (o Outcome) Failed() bool { return o.Err != nil || o.ExitCode != 0 }

// Complete returns o with its defaults filled in.
func (o Outcome) Complete() Outcome {
	if o.Err != nil && o.Message == "" {
		o.Message = o.Err.Error()
	}
	switch {
	case !o.Failed():
		o.Reason = cmp.Or(o.Reason, "completed")
	case o.Err != nil && o.ExitCode == 0:
		o.ExitCode = 1
		fallthrough
	default:
		o.Reason = cmp.Or(o.Reason, "error")
		o.ErrorType = cmp.Or(o.ErrorType, "unknown")
		o.Message = cmp.Or(o.Message, o.Reason)
	}
	return o
}

// A Failure is the "error" of a document or of the last record of a stream.
type Failure struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Code       int    `json:"code,omitempty"`
	HTTP       int    `json:"http_status,omitempty"`
	Hint       string `json:"hint,omitempty"`
	RetryAfter int64  `json:"retry_after_ms,omitempty"`
}

// FailureOf returns the Failure of an Outcome, nil for success.
func FailureOf(o Outcome) *Failure {
	if !o.Failed() {
		return nil
	}
	return &Failure{Type: output.Valid(o.ErrorType), Message: output.Valid(o.Message), Code: o.ExitCode, HTTP: o.HTTP,
		Hint: output.Valid(o.Hint), RetryAfter: o.RetryAfter.Milliseconds()}
}

// status returns the "status" of a run's end.
func status(o Outcome) string {
	if o.Failed() {
		return "error"
	}
	return "success"
}
