package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A fitting is a Context that is a function.
type fitting func(ctx context.Context, s engine.FitRequest) engine.FitResult

func (f fitting) Fit(ctx context.Context, s engine.FitRequest) engine.FitResult { return f(ctx, s) }

func user(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }

// printing returns a tool whose calls print so many characters.
func printing(n int) engine.Tool {
	return tool("read", engine.Read, func(context.Context, engine.Host) (engine.Result, error) {
		return engine.Result{Text: strings.Repeat("x", n)}, nil
	})
}

// Before each request its size is known: what the server has counted, and a guess of
// what has come since.
func TestSize(t *testing.T) {
	call := et.Call("1", "read")
	g := et.NewScript(et.Says("", call).With(1000, 20), et.Says("", call).With(5000, 0), et.Says("", call),
		et.Says("done").With(6000, 1), et.Says("bye"))
	cfg := config(t, g, printing(4000))
	var sizes []int
	cfg.Context = fitting(func(_ context.Context, s engine.FitRequest) engine.FitResult {
		sizes = append(sizes, s.Size)
		return engine.FitResult{}
	})
	e := engine.New(cfg, user(strings.Repeat("old ", 100)), genai.NewContentFromText("answer", genai.RoleModel))
	et.Record(e.Run(t.Context(), say(strings.Repeat("word", 50))))
	et.Record(e.Run(t.Context(), say("more")))
	const answer = 1004 // of the tool, with its name and as JSON
	asked, _ := engine.EstimateTokens(e.History()[5].Parts)
	again, _ := engine.EstimateTokens(e.History()[7].Parts)
	want := []int{100 + 1 + 50, 1000 + 20 + answer, 5000 + asked + answer, 5000 + asked + answer + again + answer,
		6001 + 1}
	if !slices.Equal(sizes, want) {
		t.Errorf("got  %v\nwant %v", sizes, want)
	}
}

// What a Context makes of a conversation takes its place in the journal before it is
// told, and what is sent next is that.
func TestShortened(t *testing.T) {
	g := et.NewScript(et.Says("", et.Call("1", "read")).With(90_000, 20), et.Says("done"))
	journal := &et.Journal{}
	cfg := config(t, g, printing(4000))
	cfg.Journal = journal
	cfg.Opening = func(context.Context) *genai.Content { return user("opening") }
	cfg.Context = fitting(func(_ context.Context, s engine.FitRequest) engine.FitResult {
		if s.Size < 90_000 {
			return engine.FitResult{}
		}
		s.Notify(engine.Notice{Text: "working on it"})
		return engine.FitResult{History: []*genai.Content{user("in short"), s.History[1], s.History[2]}, Action: "it was made short"}
	})
	e := engine.New(cfg)
	var told []string
	for ev, err := range e.Run(t.Context(), say(strings.Repeat("long", 20_000))) {
		if err != nil {
			t.Fatal(err)
		}
		n, ok := ev.(engine.Notice)
		if !ok {
			continue
		}
		told = append(told, n.Text)
		if by := (*engine.ConversationShortened)(nil); errors.As(n.Cause, &by) {
			if text := journal.Entries()[1].Content.Parts[0].Text; text != "in short" || !n.Info {
				t.Errorf("told before it was recorded: %.20s", text)
			}
			if by.Before != 91024 || by.After != 71026 {
				t.Errorf("%+v", by)
			}
		}
	}
	if got := strings.Join(told, "|"); got != "working on it|it was made short: 91k tokens became 71k" {
		t.Errorf("told %s", got)
	}
	last := g.Requests()[1].Contents
	if last[0].Parts[0].Text != "opening" || last[0].Parts[1].Text != "in short" || len(last) != 3 {
		t.Errorf("sent %d messages, the first %.30q", len(last), last[0].Parts[0].Text)
	}
	et.CheckHistory(t, e.History())
}

// tooLong is how servers refuse.
type tooLong struct{ error }

func (tooLong) Is(target error) bool { return target == engine.ErrTooLong }

// A request that the server refuses as too long is made once more if it was made
// shorter, and never twice.
func TestRefusedAsTooLong(t *testing.T) {
	refusal := et.Fails(tooLong{errors.New("too long")})
	for _, test := range []struct {
		name    string
		replies []et.Reply
		short   bool
		want    string // requests, answers and how it ended
	}{
		{"once", []et.Reply{refusal, et.Says("ok")}, true, "2 [true] [false] <nil>"},
		{"for ever", []et.Reply{refusal, refusal, refusal, refusal}, true, "2 [true] [false] too long"},
		{"nothing to leave out", []et.Reply{refusal, refusal}, false, "1 [true] [] too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := et.NewScript(test.replies...)
			cfg := config(t, g)
			var refused, restarts []bool
			cfg.Context = fitting(func(_ context.Context, s engine.FitRequest) engine.FitResult {
				if !s.Refused {
					return engine.FitResult{}
				}
				refused = append(refused, s.Refused)
				if !test.short {
					return engine.FitResult{}
				}
				return engine.FitResult{History: s.History[len(s.History)-1:], Action: "shorter"}
			})
			e := engine.New(cfg, user("old"), genai.NewContentFromText("answer", genai.RoleModel))
			var end error
			for ev, err := range e.Run(t.Context(), say("new")) {
				if r, ok := ev.(engine.Retry); ok {
					restarts = append(restarts, r.Restart)
				}
				end = err
			}
			if got := fmt.Sprint(len(g.Requests()), refused, restarts, end); got != test.want {
				t.Errorf("got %s; want %s", got, test.want)
			}
			et.CheckHistory(t, e.History())
		})
	}
}

// A message that alone is too long is refused at once, since nothing that could be left
// out would help; so is what follows from calls, if it can't be made shorter.
func TestTooLongAlone(t *testing.T) {
	g := et.NewScript(et.Says("", et.Call("1", "read")))
	cfg := config(t, g, printing(8000))
	cfg.TokenLimit = func(string) int { return 1000 }
	asked := 0
	cfg.Context = fitting(func(context.Context, engine.FitRequest) engine.FitResult { asked++; return engine.FitResult{} })
	e := engine.New(cfg)
	var over *engine.OverflowError
	r := et.Record(e.Run(t.Context(), say(strings.Repeat("word", 2000))))
	if len(r.Errs) != 1 || !errors.As(r.Errs[0], &over) || over.Request != 2000 || over.Limit != 1000 ||
		!strings.Contains(over.Hint(), "path") {
		t.Errorf("%v", r.Errs)
	}
	if asked != 0 || len(e.History()) != 0 {
		t.Errorf("asked %d times, %d messages kept", asked, len(e.History()))
	}
	r = et.Record(e.Run(t.Context(), say("read it")))
	if len(r.Errs) != 1 || !errors.As(r.Errs[0], &over) || asked != 2 || len(e.History()) != 3 {
		t.Errorf("%v, asked %d times, %d messages kept", r.Errs, asked, len(e.History()))
	}
	et.CheckHistory(t, e.History())
}

// A step costs the same however long the conversation is: what was measured and made
// ready to send is not looked at again.
func BenchmarkStep(b *testing.B) {
	for _, steps := range []int{10, 100, 300} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			var past []*genai.Content
			for i := range steps {
				past = append(past, user(fmt.Sprint("question ", i)),
					&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: et.Call(fmt.Sprint(i), "read")}}},
					&genai.Content{Role: genai.RoleUser,
						Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: fmt.Sprint(i), Name: "read",
							Response: map[string]any{"output": strings.Repeat("x", 32_000)}}}}},
					genai.NewContentFromText("answer", genai.RoleModel))
			}
			g := &answering{}
			e := engine.New(engine.Config{Model: "gemini-2.5-flash", Generator: g,
				TokenLimit: func(string) int { return 1 << 40 },
				Context:    fitting(func(context.Context, engine.FitRequest) engine.FitResult { return engine.FitResult{} })}, past...)
			step := func() {
				for _, err := range e.Run(b.Context(), say("go on")) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			step()
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// answering is a Generator that always says the same.
type answering struct{ engine.Generator }

func (answering) Generate(context.Context, *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		yield(et.Chunk(genai.FinishReasonStop, genai.NewPartFromText("ok")), nil)
	}
}
