package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/telemetry"
)

// generate is a Generator.
type generate func(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error]

func (g generate) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return g(ctx, req)
}

func (generate) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

// recorded returns what a target gets of what f has recorded.
func recorded(t *testing.T, f func(*telemetry.Recorder)) *shelf {
	t.Helper()
	return recordedAs(t, map[error]string{errUnsent: ""}, f)
}

// recordedAs is recorded with the classes of errors.
func recordedAs(t *testing.T, classes map[error]string, f func(*telemetry.Recorder)) *shelf {
	t.Helper()
	s := &shelf{}
	p := provider(telemetry.Target{Exporter: s, Prompts: true, Grace: time.Minute})
	r := p.Begin(telemetry.Session{ID: "s", Class: func(err error) (string, int) {
		if class, ok := classes[err]; ok {
			return class, 0
		}
		return "unavailable", 503
	}})
	f(r)
	r.Close()
	if said := p.Close(); said != nil {
		t.Error(said)
	}
	return s
}

var errUnsent = errors.New("too dear")

func (s *shelf) count(t *testing.T, want map[string]int) {
	t.Helper()
	for name, n := range want {
		if got := len(s.events("gemini_cli." + name)); got != n {
			t.Errorf("%d × %s, want %d", got, name, n)
		}
	}
}

// Each attempt is a request of its own; one that was refused here is none.
func TestGenerator(t *testing.T) {
	ask := func(r *telemetry.Recorder, g generate, most int) {
		req := &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)}}
		for range r.Generator(g).Generate(t.Context(), req) {
			if most--; most == 0 {
				break
			}
		}
	}
	answer := func(yield func(*genai.GenerateContentResponse, error) bool) {
		for _, piece := range []string{"Hel", "lo."} {
			if !yield(&genai.GenerateContentResponse{Candidates: []*genai.Candidate{{Content: genai.NewContentFromText(piece, genai.RoleModel)}}}, nil) {
				return
			}
		}
	}
	fails := func(err error) generate {
		return func(context.Context, *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
			return func(yield func(*genai.GenerateContentResponse, error) bool) { yield(nil, err) }
		}
	}
	type chunks = iter.Seq2[*genai.GenerateContentResponse, error]
	plain := generate(func(context.Context, *engine.Request) chunks { return answer })
	for _, test := range []struct {
		name string
		g    generate
		most int
		want map[string]int
	}{
		{"answered", plain, 0, map[string]int{"api_request": 1, "api_response": 1, "api_error": 0}},
		{"failed", fails(errors.New("gone")), 0, map[string]int{"api_request": 1, "api_response": 0, "api_error": 1}},
		{"never made", fails(errUnsent), 0, map[string]int{"api_request": 0, "api_response": 0, "api_error": 0}},
		{"left", plain, 1, map[string]int{"api_request": 1, "api_response": 1, "api_error": 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := recorded(t, func(r *telemetry.Recorder) { ask(r, test.g, test.most) })
			s.count(t, test.want)
			for _, ev := range s.events("gemini_cli.api_request") {
				var contents []*genai.Content
				text, _ := attr(ev.Attrs, "request_text")[0].(string)
				if json.Unmarshal([]byte(text), &contents) != nil || contents[0].Parts[0].Text != "hi" {
					t.Errorf("request_text is %s", text)
				}
			}
			for _, ev := range s.events("gemini_cli.api_response") {
				want := map[int]string{0: "Hello.", 1: "Hel"}[test.most]
				if got := attr(ev.Attrs, "response_text"); !slices.Equal(got, []any{`{"parts":[{"text":"` + want + `"}],"role":"model"}`}) {
					t.Errorf("response_text is %s", got)
				}
			}
		})
	}
}

// What is asked again is recorded, and that nothing of use ever came.
func TestRetries(t *testing.T) {
	busy, empty := errors.New("busy"), errors.New("empty")
	for _, test := range []struct {
		why, last error
		want      map[string]int
	}{
		{busy, nil, map[string]int{"network_retry_attempt": 1, "chat.content_retry": 0,
			"chat.content_retry_failure": 0}},
		{busy, busy, map[string]int{"network_retry_attempt": 1, "chat.content_retry": 0,
			"chat.content_retry_failure": 0}},
		{empty, nil, map[string]int{"network_retry_attempt": 0, "chat.content_retry": 1,
			"chat.content_retry_failure": 0}},
		{empty, empty, map[string]int{"network_retry_attempt": 0, "chat.content_retry": 1,
			"chat.content_retry_failure": 1}},
	} {
		told := 0
		s := recordedAs(t, map[error]string{busy: "rate_limit", empty: "invalid"}, func(r *telemetry.Recorder) {
			type chunks = iter.Seq2[*genai.GenerateContentResponse, error]
			g := generate(func(_ context.Context, req *engine.Request) chunks {
				return func(yield func(*genai.GenerateContentResponse, error) bool) {
					req.Notify(engine.Retry{Attempt: 1, MaxAttempts: 3, Err: test.why})
					yield(nil, test.last)
				}
			})
			for range r.Retries(g).Generate(t.Context(), &engine.Request{Model: "m",
				Notify: func(engine.Event) { told++ }}) {
			}
		})
		if s.count(t, test.want); told != 1 {
			t.Errorf("%v: told %d times", test, told)
		}
	}
}

// A call is recorded with the arguments that it ran with; one that never ended is a
// span only, and an agent's are within the call of the agent.
func TestRun(t *testing.T) {
	s := recorded(t, func(r *telemetry.Recorder) {
		run := r.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				for _, ev := range []engine.Event{
					engine.CallRequested{ID: "1", Name: "glob", Args: map[string]any{"pattern": "*"}},
					engine.CallRequested{ID: "2", Name: "glob"},
					engine.CallStateChanged{ID: "1", State: engine.Scheduled},
					engine.NestedEvent{ID: "1", Event: engine.CallRequested{ID: "9", Name: "inner"}},
					engine.NestedEvent{ID: "1", Event: engine.CallFinished{ID: "9", Name: "inner"}},
					engine.CallFinished{ID: "1", Name: "glob", Args: map[string]any{"pattern": "<*.go>"}},
				} {
					if !yield(ev, nil) {
						return
					}
				}
				yield(nil, errors.New("over"))
			}
		})
		for range run(t.Context(), genai.NewPartFromText("hi")) {
		}
	})
	calls := s.events("gemini_cli.tool_call")
	if len(calls) != 2 || !slices.Equal(attr(calls[0].Attrs, "function_name"), []any{"inner"}) || !slices.Equal(attr(calls[1].Attrs, "function_args"), []any{`{"pattern":"<*.go>"}`}) || !slices.Equal(attr(calls[1].Attrs, "decision"), []any{"accept"}) {
		t.Errorf("calls: %v", calls)
	}
	spans := map[string]telemetry.Span{}
	for _, b := range s.batches {
		for _, span := range b.Spans {
			spans[span.Name+" "+span.Error] = span
		}
	}
	prompt, schedule, call := spans["user_prompt over"], spans["schedule_tool_calls left: context canceled"], spans["tool_call "]
	if len(spans) != 4 || schedule.Parent != prompt.ID || call.Parent != schedule.ID ||
		call.Trace != prompt.Trace || prompt.Parent != (telemetry.SpanID{}) {
		t.Errorf("spans: %v", spans)
	}
}

// What a failed call has printed reaches only the target that is to have what was said.
func TestFailedCall(t *testing.T) {
	open, shut := &shelf{}, &shelf{}
	p := provider(telemetry.Target{Exporter: open, Prompts: true, Grace: time.Minute},
		telemetry.Target{Exporter: shut, Grace: time.Minute})
	r := p.Begin(telemetry.Session{ID: "s"})
	run := r.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			_ = yield(engine.CallRequested{ID: "1", Name: "run_shell_command"}, nil) &&
				yield(engine.CallFinished{ID: "1", Name: "run_shell_command", Err: &engine.CallError{
					Type: "shell_execute_error", Message: "Output: the letter", Display: "failed exit 1"}}, nil)
		}
	})
	for range run(t.Context(), genai.NewPartFromText("hi")) {
	}
	r.Close()
	p.Close()
	for s, want := range map[*shelf]string{open: "Output: the letter", shut: "failed exit 1"} {
		calls := s.events("gemini_cli.tool_call")
		if len(calls) != 1 || !slices.Equal(attr(calls[0].Attrs, "error"), []any{want}) ||
			!slices.Equal(attr(calls[0].Attrs, "error.message"), []any{want}) ||
			!slices.Equal(attr(calls[0].Attrs, "error_type"), []any{"shell_execute_error"}) {
			t.Errorf("not %s: %v", want, calls)
		}
		for _, b := range s.batches {
			for _, span := range b.Spans {
				if strings.Contains(span.Error, "letter") {
					t.Errorf("%s holds %s", span.Name, span.Error)
				}
			}
		}
	}
}

// Names that the model makes up do not fill the memory.
func TestManyNames(t *testing.T) {
	s := recorded(t, func(r *telemetry.Recorder) {
		for i := range 3000 {
			r.Measure(telemetry.ToolCalls, 1, slog.Int("function_name", i))
		}
	})
	for _, b := range s.batches {
		for _, m := range b.Metrics {
			if m.Instrument == telemetry.ToolCalls && len(m.Points) > 1000 {
				t.Errorf("%d points", len(m.Points))
			}
		}
	}
}

// That a conversation was summed up is recorded; old outputs that are in files are not.
func TestCompression(t *testing.T) {
	s := recorded(t, func(r *telemetry.Recorder) {
		run := r.Run(func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				_ = yield(engine.Notice{Cause: &engine.ConversationShortened{Before: 9, After: 8}}, nil) &&
					yield(engine.Notice{Text: "something else"}, nil) &&
					yield(engine.Notice{Cause: &engine.ConversationShortened{Before: 90, After: 20, Summarized: true}}, nil)
			}
		})
		for range run(t.Context(), genai.NewPartFromText("hi")) {
		}
	})
	s.count(t, map[string]int{"chat_compression": 1})
	for _, ev := range s.events("gemini_cli.chat_compression") {
		if before, after := attr(ev.Attrs, "tokens_before"), attr(ev.Attrs, "tokens_after"); !slices.Equal(before, []any{int64(90)}) || !slices.Equal(after, []any{int64(20)}) {
			t.Errorf("%v tokens became %v", before, after)
		}
	}
}
