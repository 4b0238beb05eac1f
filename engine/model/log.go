package model

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
)

// logged is how much of one text a log shows, in bytes.
const logged = 4 << 10

// Log returns a Generator that asks g and tells l, at the level of debugging,
// what was asked and answered. Long texts are cut, and secrets taken out.
func Log(g engine.Generator, l *slog.Logger, secrets *redact.Redactor) engine.Generator {
	return logging{Generator: g, log: l, redact: secrets}
}

type logging struct {
	engine.Generator
	log    *slog.Logger
	redact *redact.Redactor
}

// Generate implements [engine.Generator].
func (t logging) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if !t.log.Enabled(ctx, slog.LevelDebug) {
			t.Generator.Generate(ctx, req)(yield)
			return
		}
		t.logRequest(ctx, "generate", req)
		h := loggedAnswer{start: time.Now()}
		defer func() { t.answered(ctx, &h) }()
		for chunk, err := range t.Generator.Generate(ctx, req) {
			if err != nil {
				h.err = err
				yield(nil, err)
				return
			}
			h.observe(chunk)
			if !yield(chunk, nil) {
				h.err = errLeft
				return
			}
		}
	}
}

// Count implements [engine.Generator].
func (t logging) Count(ctx context.Context, req *engine.Request) (int, error) {
	t.logRequest(ctx, "count", req)
	n, err := t.Generator.Count(ctx, req)
	t.log.DebugContext(ctx, "model counted", "tokens", n, "error", t.text(err))
	return n, err
}

func (t logging) logRequest(ctx context.Context, what string, req *engine.Request) {
	if !t.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	last := ""
	if n := len(req.Contents); n > 0 && req.Contents[n-1] != nil {
		last = t.say(req.Contents[n-1])
	}
	t.log.DebugContext(ctx, "model asked", "for", what, "model", req.Model, "messages", len(req.Contents), "last", last)
}

func (t logging) answered(ctx context.Context, h *loggedAnswer) {
	t.log.DebugContext(ctx, "model answered", "chunks", h.chunks, "took", time.Since(h.start),
		"finish", string(h.finish), "text", cut(t.redact.Text(h.text.String())), "calls", cut(t.redact.Text(strings.Join(h.calls, "; "))),
		"tokens", h.tokens, "error", t.text(h.err))
}

// say returns a message as a log shows it.
func (t logging) say(c *genai.Content) string {
	var all []string
	for _, p := range c.Parts {
		if p == nil {
			continue
		}
		switch {
		case p.FunctionCall != nil:
			all = append(all, fmt.Sprintf("call %s %v", p.FunctionCall.Name, p.FunctionCall.Args))
		case p.FunctionResponse != nil:
			all = append(all, fmt.Sprintf("answer of %s %v", p.FunctionResponse.Name, p.FunctionResponse.Response))
		case p.InlineData != nil:
			all = append(all, fmt.Sprintf("%d bytes of %s", len(p.InlineData.Data), p.InlineData.MIMEType))
		default:
			all = append(all, p.Text)
		}
	}
	return cut(t.redact.Text(strings.Join(all, " | ")))
}

func (t logging) text(err error) string {
	if err == nil {
		return ""
	}
	return cut(t.redact.Text(err.Error()))
}

// cut shortens s to what a log shows.
func cut(s string) string {
	if len(s) <= logged {
		return s
	}
	return strings.ToValidUTF8(s[:logged], "") + fmt.Sprintf("... (%d bytes)", len(s))
}

// A loggedAnswer is an answer as a log shows it.
type loggedAnswer struct {
	start  time.Time
	chunks int
	finish genai.FinishReason
	text   strings.Builder
	calls  []string
	tokens int32
	err    error
}

func (h *loggedAnswer) observe(chunk *genai.GenerateContentResponse) {
	h.chunks++
	if chunk.UsageMetadata != nil {
		h.tokens = chunk.UsageMetadata.TotalTokenCount
	}
	for _, c := range chunk.Candidates {
		if c == nil {
			continue
		}
		h.finish = cmp.Or(c.FinishReason, h.finish)
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			switch {
			case p == nil:
			case p.FunctionCall != nil:
				h.calls = append(h.calls, fmt.Sprintf("%s %v", p.FunctionCall.Name, p.FunctionCall.Args))
			case h.text.Len() < 2*logged: // more than is shown: a secret at the end must be whole
				h.text.WriteString(p.Text)
			}
		}
	}
}
