package program

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"gemline/engine/redact"
	"gemline/repl/report"
)

// outcome classifies what went wrong, and tells no secret.
func (r *run) outcome(err error) report.Outcome { return redacted(outcome(err), r.opts.Secrets) }

// redacted returns out without secrets.
func redacted(out report.Outcome, secrets *redact.Redactor) report.Outcome {
	out.Hint = secrets.Text(out.Hint)
	if out.Message == "" && out.Err != nil {
		out.Message = out.Err.Error()
	}
	out.Message = secrets.Text(out.Message)
	return out
}

// redactedAttr returns a function that redacts secrets in the attributes of a log.
func redactedAttr(secrets *redact.Redactor) func([]string, slog.Attr) slog.Attr {
	return func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(secrets.Text(v))
		case error:
			a.Value = slog.StringValue(secrets.Text(v.Error()))
		}
		return a
	}
}

// redactingWriter is where libraries log to.
type redactingWriter struct {
	io.Writer
	secrets *redact.Redactor
}

func (d redactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(d.Writer, d.secrets.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// withheld says which variables commands are not given, "" if there are none.
func withheld(names []string) string {
	const most = 8
	if len(names) == 0 {
		return ""
	}
	list := strings.Join(names[:min(most, len(names))], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return "environment variables that look like secrets are kept from commands: " + list +
		"; security.environmentVariableRedaction.allowed lets them through"
}

// onceText returns a function that returns what tell does the first time, and
// nothing after it.
func onceText(tell func() string) func() string {
	var first sync.Once
	return func() (text string) {
		first.Do(func() { text = tell() })
		return text
	}
}
