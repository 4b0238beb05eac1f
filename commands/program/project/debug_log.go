package project

import (
	"io"
	"log"
	"log/slog"
	"os"

	"gemline/engine/redact"
)

// openDebugLog returns the log of -d, which libraries write to as well, and a function that closes
// it.
func openDebugLog(p Process, secrets *redact.Redactor) (l *slog.Logger, stop func(), err error) {
	w := p.Stderr
	stop = func() {}
	if name := p.Getenv("GEMINI_DEBUG_LOG_FILE"); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, err
		}
		stop = func() { f.Close() }
		w = f
	}
	log.SetOutput(redactingWriter{w, secrets})
	p.RedirectOutput(w)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: redactedAttr(secrets)})), stop, nil
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

// A redactingWriter writes the log of libraries without secrets.
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
