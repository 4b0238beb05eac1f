package program

import (
	"io"
	"log/slog"

	"gemline/engine/redact"
	"gemline/repl/report"
)

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
