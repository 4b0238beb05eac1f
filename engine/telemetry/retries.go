package telemetry

import (
	"context"
	"fmt"
	"iter"
	"log/slog"

	"google.golang.org/genai"

	"gemline/engine"
)

// Retries returns a Generator around g, which repeats failed requests. It records each further
// attempt.
func (r *Recorder) Retries(g engine.Generator) engine.Generator {
	if r == nil {
		return g
	}
	return retrying{g, r}
}

type retrying struct {
	engine.Generator
	r *Recorder
}

// Generate implements [engine.Generator].
func (g retrying) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		asked, attempts := *req, 1
		asked.Notify = func(ev engine.Event) {
			if retry, ok := ev.(engine.Retry); ok {
				g.r.retry(req.Model, retry)
				attempts++
			}
			if req.Notify != nil {
				req.Notify(ev)
			}
		}
		for chunk, err := range g.Generator.Generate(ctx, &asked) {
			if err != nil {
				g.r.gaveUp(req.Model, err, attempts)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// invalid is the class of useless answers.
const invalid = "invalid"

// retry records a failed attempt that is followed by another.
func (r *Recorder) retry(model string, ev engine.Retry) {
	class, _ := r.session.Class(ev.Err)
	of := slog.String("model", model)
	attrs := []slog.Attr{slog.String("error_type", class), of}
	if class == invalid {
		r.Log(Event{Name: "gemini_cli.chat.content_retry",
			Body:  fmt.Sprintf("Content retry attempt %d due to %s.", ev.Attempt, class),
			Attrs: append(attrs, slog.Int("attempt_number", ev.Attempt), millis("retry_delay_ms", ev.Delay))})
		r.Measure(ContentRetries, 1)
		return
	}
	r.Log(Event{Name: "gemini_cli.network_retry_attempt",
		Body: fmt.Sprintf("Network retry attempt %d/%d for %s.", ev.Attempt, ev.MaxAttempts, model),
		Attrs: append(attrs, slog.Int("attempt", ev.Attempt), slog.Int("max_attempts", ev.MaxAttempts),
			millis("delay_ms", ev.Delay))})
	r.Measure(NetworkRetries, 1, of, slog.Int("attempt", ev.Attempt))
}

// gaveUp records that the last attempt got a useless answer. An attempt without an answer is
// recorded by itself.
func (r *Recorder) gaveUp(model string, err error, attempts int) {
	class, _ := r.session.Class(err)
	if class != invalid {
		return
	}
	r.Log(Event{Name: "gemini_cli.chat.content_retry_failure",
		Body: fmt.Sprintf("Content retries failed after %d attempts: %v.", attempts, err),
		Attrs: append(stated(err, class), slog.Int("total_attempts", attempts),
			slog.String("final_error_type", class), slog.String("model", model))})
	r.Measure(ContentFailures, 1)
}
