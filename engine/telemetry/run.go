package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine"
)

// Run returns a Run that yields the events of run, and records the prompt and the calls. It
// reports failures of targets by Notices at the end.
func (r *Recorder) Run(run engine.Run) engine.Run {
	if r == nil {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		p := r.answer(parts)
		failed := errLeft
		defer func() { p.end(failed) }()
		for ev, err := range run(ctx, parts...) {
			if err != nil {
				failed = err
				yield(nil, err)
				return
			}
			p.observe(ev)
			if !yield(ev, nil) {
				return
			}
		}
		failed = nil
		for _, text := range r.provider.troubles() {
			if !yield(engine.Notice{Text: text}, nil) {
				return
			}
		}
	})
}

// errLeft is the error of spans whose consumer has left.
var errLeft = fmt.Errorf("left: %w", context.Canceled)

// A prompt is a prompt that is being answered.
type prompt struct {
	r        *Recorder
	id       string
	span     Span
	schedule Span             // of the unfinished calls
	calls    map[string]*call // unfinished
}

// A call is an unfinished call.
type call struct {
	span    Span
	allowed bool
	agent   string           // that works on it, "" if none does
	calls   map[string]*call // the agent's unfinished calls
	turns   int              // the agent's requests
	again   again            // its last chance to report
}

// answer records that a prompt is being answered.
func (r *Recorder) answer(parts []*genai.Part) *prompt {
	p := &prompt{r: r, span: r.begin("user_prompt", spanContext{}), calls: map[string]*call{}}
	p.id = r.next(p.span.spanContext)
	var words strings.Builder
	for _, part := range parts {
		if part != nil {
			words.WriteString(part.Text)
		}
	}
	said := words.String()
	length := utf8.RuneCountInString(said)
	p.span.Attrs = []slog.Attr{slog.String("gen_ai.prompt.name", p.id)}
	if r.large {
		p.span.Large = []slog.Attr{slog.String("gen_ai.input.messages",
			messages(&genai.Content{Role: genai.RoleUser, Parts: parts}))}
	}
	r.Log(Event{Name: "gemini_cli.user_prompt", Body: fmt.Sprintf("User prompt. Length: %d.", length),
		Attrs:   []slog.Attr{slog.Int("prompt_length", length), slog.String("prompt_id", p.id)},
		Private: []slog.Attr{slog.String("prompt", said)}})
	return p
}

func (p *prompt) end(err error) {
	for _, c := range p.calls {
		p.r.end(c.span, errLeft)
	}
	if len(p.calls) > 0 {
		p.r.end(p.schedule, errLeft)
	}
	p.r.end(p.span, err)
}

// observe records the events of calls. An agent's requests are recorded by its Generator.
func (p *prompt) observe(ev engine.Event) {
	p.r.Compression(ev)
	open := len(p.calls)
	if _, ok := ev.(engine.CallRequested); ok && open == 0 {
		p.schedule = p.r.begin("schedule_tool_calls", p.span.spanContext)
	}
	p.call(ev, p.calls, p.schedule.spanContext)
	if open > 0 && len(p.calls) == 0 {
		p.r.end(p.schedule, nil)
	}
}

// call records an event of calls of the conversation or of an agent.
func (p *prompt) call(ev engine.Event, calls map[string]*call, within spanContext) {
	switch ev := ev.(type) {
	case engine.CallRequested:
		calls[ev.ID] = &call{span: p.r.begin("tool_call", within), calls: map[string]*call{}}
	case engine.CallStateChanged:
		if c := calls[ev.ID]; c != nil && ev.State == engine.Scheduled {
			c.allowed = true
		}
	case engine.NestedEvent:
		if c := calls[ev.ID]; c != nil {
			p.nested(ev, c)
		}
	case engine.CallFinished:
		c := calls[ev.ID]
		if c == nil { // an unknown call
			return
		}
		delete(calls, ev.ID)
		p.finished(ev, c)
	}
}

// Compression records that a conversation was summarized, if ev says so.
func (r *Recorder) Compression(ev engine.Event) {
	n, _ := ev.(engine.Notice)
	by := (*engine.ConversationShortened)(nil)
	if r == nil || !errors.As(n.Cause, &by) || !by.Summarized {
		return
	}
	attrs := []slog.Attr{slog.Int("tokens_before", by.Before), slog.Int("tokens_after", by.After)}
	r.Log(Event{Name: "gemini_cli.chat_compression", Attrs: attrs,
		Body: fmt.Sprintf("Chat compression (saved %d tokens)", by.Before-by.After)})
	r.Measure(Compressions, 1, attrs...)
}

func (p *prompt) finished(ev engine.CallFinished, c *call) {
	now := time.Now()
	name, kind := slog.String("function_name", ev.Name), slog.String("tool_type", "native")
	if ev.Server != "" {
		kind = slog.String("tool_type", "mcp")
	}
	result := []slog.Attr{name, slog.Bool("success", ev.Err == nil)}
	decision, said := "", ""
	switch {
	case errors.Is(ev.Err, engine.ErrRefused):
		decision = "reject"
	case c.allowed:
		decision = "accept"
	}
	if decision != "" {
		result, said = append(result, slog.String("decision", decision)), "Decision: "+decision+". "
	}
	attrs := append(slices.Clip(result), millis("duration_ms", ev.Took), slog.String("prompt_id", p.id),
		kind,
		slog.Int64("start_time", now.Add(-ev.Took).UnixMilli()), slog.Int64("end_time", now.UnixMilli()),
		slog.Int("content_length", len(ev.Result.Text)))
	if ev.Server != "" {
		attrs = append(attrs, slog.String("mcp_server_name", ev.Server))
	}
	private, failed := []slog.Attr{}, error(nil)
	if ev.Err != nil {
		class := engine.ErrorType(ev.Err)
		if engine.Outcome(ev.Err) == engine.Cancelled {
			class = "cancelled"
		}
		failed = errors.New(engine.DisplayError(ev.Err)) // since the text for the model may contain output
		attrs, private = append(attrs, stated(failed, class)...), stated(ev.Err, "")
	}
	added, removed := 0, 0
	for _, change := range ev.Result.Changes {
		added, removed = added+change.Added, removed+change.Removed
		operation := map[bool]string{true: "create", false: "update"}[change.Created]
		p.touched(ev, operation, change.Path, slog.Int("lines", change.Added))
	}
	if len(ev.Result.Changes) > 0 {
		lines := map[string]int{"model_added_lines": added, "model_removed_lines": removed}
		attrs = append(attrs, slog.String("metadata", asJSON(lines)))
		p.r.Measure(LinesChanged, float64(added), name, slog.String("type", "added"))
		p.r.Measure(LinesChanged, float64(removed), name, slog.String("type", "removed"))
	} else if ev.Err == nil && ev.Name == "read_file" && len(ev.Intent.Paths) > 0 {
		p.touched(ev, "read", ev.Intent.Paths[0])
	}
	p.cut(ev)
	args := ""
	if p.r.prompts {
		args = asJSON(ev.Args)
	}
	p.r.Log(Event{Name: "gemini_cli.tool_call", Attrs: attrs,
		Private: append(private, slog.String("function_args", args)), within: c.span.spanContext,
		Body: fmt.Sprintf("Tool call: %s. %sSuccess: %v. Duration: %dms.", ev.Name, said, ev.Err == nil,
			ev.Took.Milliseconds())})
	p.r.Measure(ToolCalls, 1, append(result, kind)...)
	p.r.Measure(ToolLatency, float64(ev.Took.Milliseconds()), name)
	c.span.Attrs = []slog.Attr{slog.String("gen_ai.tool.name", ev.Name), slog.String("gen_ai.tool.call_id", ev.ID)}
	if p.r.large {
		c.span.Large = []slog.Attr{slog.String("gen_ai.input.messages", short(args)),
			slog.String("gen_ai.output.messages", short(ev.Result.Text))}
	}
	p.r.end(c.span, failed)
	if c.agent != "" {
		p.agentOver(ev, c)
	}
}

// cut records that the model got only a part of an output.
func (p *prompt) cut(ev engine.CallFinished) {
	c := ev.Result.Cut
	if c == (engine.Cut{}) {
		return
	}
	p.r.Log(Event{Name: "gemini_cli.tool_output_truncated", Body: fmt.Sprintf("Tool output truncated for %s.", ev.Name),
		Attrs: []slog.Attr{slog.String("tool_name", ev.Name), slog.Int("original_content_length", c.Total),
			slog.Int("truncated_content_length", utf8.RuneCountInString(ev.Result.Text)), slog.Int("threshold", c.Shown),
			slog.String("prompt_id", p.id)}})
}

// touched records a file operation.
func (p *prompt) touched(ev engine.CallFinished, operation, path string, more ...slog.Attr) {
	attrs := []slog.Attr{slog.String("operation", operation)}
	if ext := filepath.Ext(path); ext != "" {
		attrs = append(attrs, slog.String("extension", ext))
	}
	p.r.Measure(FileOperations, 1, attrs...)
	p.r.Log(Event{Name: "gemini_cli.file_operation", Body: fmt.Sprintf("File operation: %s.", operation),
		Attrs: append(append([]slog.Attr{slog.String("tool_name", ev.Name)}, attrs...), more...)})
}
