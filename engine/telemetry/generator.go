package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// Generator returns a Generator that asks g and records requests and answers. If g makes only
// single attempts, each attempt is recorded.
func (r *Recorder) Generator(g engine.Generator) engine.Generator {
	if r == nil {
		return g
	}
	return recording{g, r}
}

type recording struct {
	engine.Generator
	r *Recorder
}

// Generate implements [engine.Generator].
func (g recording) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		x := g.r.exchange(req)
		for chunk, err := range g.Generator.Generate(ctx, req) {
			if err != nil {
				x.failed(err)
				yield(nil, err)
				return
			}
			x.observe(chunk)
			if !yield(chunk, nil) {
				if ctx.Err() != nil {
					x.failed(errLeft)
					return
				}
				break // answered; the consumer needs no more chunks
			}
		}
		x.answered()
	}
}

// An exchange is a request and its outcome. The request is recorded together with the
// beginning of its outcome, since a request that the program itself refuses is never sent.
type exchange struct {
	r      *Recorder
	req    *engine.Request
	prompt string
	span   Span
	sent   bool // the request is recorded
	usage  engine.Usage
	answer genai.Content
	finish []string
	id     string // of the answer
}

func (r *Recorder) exchange(req *engine.Request) *exchange {
	x := &exchange{r: r, req: req, answer: genai.Content{Role: genai.RoleModel}, usage: engine.NewUsage(req.Model)}
	var within spanContext
	x.prompt, within = r.now()
	x.span = r.begin("llm_call", within)
	return x
}

// requestAttrs are the attributes of all events about the request.
func (x *exchange) requestAttrs(model string) []slog.Attr {
	role := slog.String("role", cmp.Or(x.req.Role, "main"))
	return []slog.Attr{slog.String("model", model), slog.String("prompt_id", x.prompt), role}
}

// log records an event of the exchange, and its details.
func (x *exchange) log(ev Event, more ...slog.Attr) {
	ev.within = x.span.spanContext
	x.r.Log(ev)
	details := Event{Name: "gen_ai.client.inference.operation.details",
		Body: "GenAI operation details from " + x.req.Model + ".", within: ev.within,
		Attrs: append(x.conventions(), more...)}
	if x.r.large {
		details.Large = x.messages()
	}
	x.r.Log(details)
}

// send records the request, once.
func (x *exchange) send() {
	if x.sent {
		return
	}
	x.sent = true
	ev := Event{Name: "gemini_cli.api_request", Body: "API request to " + x.req.Model + ".", Time: x.span.Start,
		Attrs: x.requestAttrs(x.req.Model)}
	if x.r.prompts {
		ev.Private = []slog.Attr{slog.String("request_text", asJSON(x.req.Contents))}
	}
	x.log(ev)
}

func (x *exchange) observe(chunk *genai.GenerateContentResponse) {
	x.send()
	if chunk == nil {
		return
	}
	x.usage.Update(chunk)
	x.id = cmp.Or(chunk.ResponseID, x.id)
	for _, c := range chunk.Candidates {
		if c == nil {
			continue
		}
		if reason := string(c.FinishReason); reason != "" && !slices.Contains(x.finish, reason) {
			x.finish = append(x.finish, reason)
		}
		if c.Content != nil && x.r.prompts {
			x.answer.Parts = append(x.answer.Parts, c.Content.Parts...)
		}
	}
}

// failed records that no answer came, unless the request was never made.
func (x *exchange) failed(err error) {
	defer x.end(err)
	class, status := x.r.session.Class(err)
	if class == "" {
		return
	}
	x.send()
	took := max(0, time.Since(x.span.Start))
	model := x.req.Model
	attrs := append(x.requestAttrs(model), slog.String("model_name", model), millis("duration", took),
		millis("duration_ms", took))
	attrs = append(attrs, stated(err, class)...)
	counted := []slog.Attr{slog.String("model", model), slog.String("error_type", class)}
	if status != 0 {
		attrs = append(attrs, slog.Int("status_code", status), slog.Int("http.status_code", status))
		counted = append(counted, slog.Int("status_code", status))
	}
	x.log(Event{Name: "gemini_cli.api_error", Attrs: attrs,
		Body: fmt.Sprintf("API error for %s. Error: %v. Duration: %dms.", model, err, took.Milliseconds())},
		slog.String("error.type", class))
	x.r.Measure(Requests, 1, counted...)
	x.r.Measure(RequestLatency, float64(took.Milliseconds()), slog.String("model", model))
	x.r.Measure(ClientDuration, took.Seconds(), append(x.operation(), slog.String("error.type", class))...)
}

// answered records the answer.
func (x *exchange) answered() {
	x.send()
	took, u := max(0, time.Since(x.span.Start)), x.usage
	x.answer.Parts = joined(x.answer.Parts)
	model := slog.String("model", u.Model)
	attrs := append(x.requestAttrs(u.Model), slog.Int("status_code", 200), slog.Int("http.status_code", 200),
		millis("duration_ms", took), slog.Any("finish_reasons", x.finish))
	for _, c := range []struct {
		name, kind string
		n          int
	}{
		{"input", "input", u.Prompt},
		{"output", "output", u.Output},
		{"cached_content", "cache", u.Cached},
		{"thoughts", "thought", u.Thoughts},
		{"tool", "tool", u.ToolUse},
	} {
		attrs = append(attrs, slog.Int(c.name+"_token_count", c.n))
		x.r.Measure(Tokens, float64(c.n), model, slog.String("type", c.kind))
	}
	ev := Event{Name: "gemini_cli.api_response", Attrs: append(attrs, slog.Int("total_token_count", u.Sum())),
		Body: fmt.Sprintf("API response from %s. Status: 200. Duration: %dms.", u.Model, took.Milliseconds())}
	if x.r.prompts {
		ev.Private = []slog.Attr{slog.String("response_text", asJSON(x.answer))}
	}
	x.log(ev)
	x.r.Measure(Requests, 1, model, slog.Int("status_code", 200))
	x.r.Measure(RequestLatency, float64(took.Milliseconds()), model)
	x.r.Measure(ClientDuration, took.Seconds(), x.operation()...)
	x.r.Measure(ClientTokens, float64(u.Prompt), append(x.operation(), slog.String("gen_ai.token.type", "input"))...)
	x.r.Measure(ClientTokens, float64(u.Output), append(x.operation(), slog.String("gen_ai.token.type", "output"))...)
	x.end(nil)
}

func (x *exchange) end(err error) {
	// the name is the operation's
	x.span.Attrs = append(x.conventions()[1:], slog.String("gen_ai.prompt.name", x.prompt))
	if x.r.large {
		x.span.Large = x.messages()
	}
	x.r.end(x.span, err)
}

// operation are the attributes that the conventions require for metrics.
func (x *exchange) operation() []slog.Attr {
	return append([]slog.Attr{slog.String("gen_ai.operation.name", "generate_content"),
		slog.String("gen_ai.request.model", x.req.Model),
		slog.String("gen_ai.response.model", x.usage.Model)}, x.r.session.Model...)
}

// conventions are the attributes that the conventions require for events and spans.
func (x *exchange) conventions() []slog.Attr {
	attrs := x.operation()
	number := func(key string, f *float32) {
		if f != nil {
			attrs = append(attrs, slog.Float64(key, float64(*f)))
		}
	}
	if c := x.req.Config; c != nil {
		number("gen_ai.request.temperature", c.Temperature)
		number("gen_ai.request.top_p", c.TopP)
		number("gen_ai.request.top_k", c.TopK)
		if c.MaxOutputTokens > 0 {
			attrs = append(attrs, slog.Int("gen_ai.request.max_tokens", int(c.MaxOutputTokens)))
		}
	}
	if x.id != "" {
		attrs = append(attrs, slog.String("gen_ai.response.id", x.id))
	}
	if len(x.finish) > 0 {
		attrs = append(attrs, slog.Any("gen_ai.response.finish_reasons", x.finish),
			slog.Int("gen_ai.usage.input_tokens", x.usage.Prompt),
			slog.Int("gen_ai.usage.output_tokens", x.usage.Output))
	}
	return attrs
}

// messages returns the attributes that hold messages.
func (x *exchange) messages() []slog.Attr {
	attrs := []slog.Attr{slog.String("gen_ai.input.messages", messages(x.req.Contents...))}
	if len(x.answer.Parts) > 0 {
		attrs = append(attrs, slog.String("gen_ai.output.messages", messages(&x.answer)))
	}
	if c := x.req.Config; c != nil {
		if c.SystemInstruction != nil {
			attrs = append(attrs, slog.String("gen_ai.system_instructions", asJSON(parts(c.SystemInstruction))))
		}
		var names []string
		for _, t := range c.Tools {
			for _, f := range t.FunctionDeclarations {
				names = append(names, f.Name)
			}
		}
		attrs = append(attrs, slog.String("gen_ai.tool.definitions", asJSON(names)))
	}
	return attrs
}
