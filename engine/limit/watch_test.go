package limit_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/limit"
	"gemline/engine/policy"
)

// tool returns a tool whose first call takes a minute, the next one two, and
// so on, so that those that run side by side end in order.
func tool(name string) engine.Tool {
	var calls atomic.Int64
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: engine.Read,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			takes := time.Duration(calls.Add(1)) * time.Minute
			return engine.Call{Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				select {
				case <-time.After(takes):
					return engine.Result{Text: "ok"}, nil
				case <-ctx.Done():
					return engine.Result{}, ctx.Err()
				}
			}}, nil
		}}
}

// converse returns an engine within a budget.
func converse(t *testing.T, b *limit.Budget, replies ...et.Reply) (*engine.Engine, *et.Script) {
	script := et.NewScript(replies...)
	return engine.New(engine.Config{Model: "m", Generator: b.Generator(script), Tools: engine.Tools{tool("read")},
		Policy: policy.New(policy.Default), Approver: et.NewApprover(t)}), script
}

// story returns what happened, without the states of calls.
func story(r *et.Recorder) string {
	var b strings.Builder
	for line := range strings.Lines(r.String()) {
		if !strings.HasPrefix(line, "state") && !strings.HasPrefix(line, "started") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func calls(text string, n int) et.Reply {
	var fcs []*genai.FunctionCall
	for range n {
		fcs = append(fcs, et.Call("", "read"))
	}
	return et.Says(text, fcs...).With(100, 10)
}

// cutCall is a message that is cut behind its call, from a server that does
// not tell what it took.
func cutCall() et.Reply {
	r := et.Says("hm", et.Call("", "read"))
	r.Chunks[0].Candidates[0].FinishReason = genai.FinishReasonMaxTokens
	return r
}

func TestWatch(t *testing.T) {
	const unmade = "not run: --max-tool-calls is used up"
	resume := func() string { return "gemline --resume abc" }
	tests := []struct {
		name    string
		cfg     limit.Config
		replies []et.Reply
		want    string
		kind    limit.Kind
	}{
		{name: "no limit", replies: []et.Reply{calls("hm", 1), et.Says("done")},
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\nfinished read#1 success: ok\nturn 2 m\ntext done\n"},
		{name: "as many calls as allowed", cfg: limit.Config{Calls: 1}, replies: []et.Reply{calls("hm", 1), et.Says("done")},
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\nfinished read#1 success: ok\nturn 2 m\ntext done\n"},
		{name: "as many at once as allowed", cfg: limit.Config{Calls: 2}, replies: []et.Reply{calls("hm", 2), et.Says("done")},
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\ncalled read#2 null\nfinished read#1 success: ok\nfinished read#2 success: ok\nturn 2 m\ntext done\n"},
		{name: "one call too many", cfg: limit.Config{Calls: 1, Resume: resume}, replies: []et.Reply{calls("hm", 1), calls("and", 1)}, kind: limit.Calls,
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\nfinished read#1 success: ok\n" +
				"turn 2 m\ntext and\nusage 100+10\ncalled read#2 null\nfinished read#2 cancelled: " + unmade + "\n" +
				"error: stopped: the model wants a call more, and --max-tool-calls 1 is used up; gemline --resume abc --max-tool-calls N goes on\n"},
		{name: "too many at once", cfg: limit.Config{Calls: 2}, replies: []et.Reply{calls("hm", 3)}, kind: limit.Calls,
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\ncalled read#2 null\ncalled read#3 null\n" +
				"finished read#1 cancelled: " + unmade + "\nfinished read#2 cancelled: " + unmade + "\nfinished read#3 cancelled: " + unmade + "\n" +
				"error: stopped: the model wants 3 calls more, and --max-tool-calls 2 leaves 2; --max-tool-calls sets the limit\n"},
		{name: "an answer that crosses the limit", cfg: limit.Config{Tokens: 50}, replies: []et.Reply{et.Says("done").With(100, 10)},
			want: "turn 1 m\ntext done\nusage 100+10\n"},
		{name: "tokens used up by a call", cfg: limit.Config{Tokens: 50, Resume: resume}, replies: []et.Reply{calls("hm", 1)}, kind: limit.Tokens,
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\nfinished read#1 success: ok\nturn 2 m\n" +
				"error: stopped: 110 tokens are used, and the limit is --max-tokens 50; gemline --resume abc --max-tokens N goes on\n"},
		{name: "an answer cut short", cfg: limit.Config{Tokens: 100}, replies: []et.Reply{ends("half", genai.FinishReasonMaxTokens, 90)}, kind: limit.Tokens,
			want: "turn 1 m\ntext half\nusage 10+90\nerror: the answer was cut short: --max-tokens is used up; --max-tokens sets the limit\n"},
		{name: "a cut that did not end it", cfg: limit.Config{Tokens: 100}, replies: []et.Reply{cutCall(), et.Says("done")},
			want: "turn 1 m\ntext hm\ncalled read#1 null\nfinished read#1 success: ok\nturn 2 m\ntext done\n"},
		{name: "an answer cut short by the server", cfg: limit.Config{Tokens: 1e6}, replies: []et.Reply{ends("half", genai.FinishReasonMaxTokens, 90)},
			want: "turn 1 m\ntext half\nusage 10+90\nnotice the answer was cut short by the model's server: MAX_TOKENS\n"},
		{name: "time within a call", cfg: limit.Config{Time: 30 * time.Second}, replies: []et.Reply{calls("hm", 1)}, kind: limit.Time,
			want: "turn 1 m\ntext hm\nusage 100+10\ncalled read#1 null\nfinished read#1 cancelled: cancelled\n" +
				"error: stopped: --timeout 30s is over; --timeout sets how long an answer may take\n"},
		{name: "time within an answer", cfg: limit.Config{Time: 90 * time.Second}, replies: []et.Reply{et.Stalled(et.Streams("half "))}, kind: limit.Time,
			want: "turn 1 m\ntext half \nerror: stopped: --timeout 1m30s is over; --timeout sets how long an answer may take\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := limit.New(test.cfg)
				e, script := converse(t, b, test.replies...)
				r := et.Record(b.Watch(e.Run)(t.Context(), genai.NewPartFromText("go")))
				if diff := cmp.Diff(test.want, story(r)); diff != "" {
					t.Error(diff)
				}
				if script.Left() > 0 {
					t.Errorf("%d replies are left", script.Left())
				}
				et.CheckHistory(t, e.History())
				var stopped *limit.Error
				switch {
				case test.kind == 0 && len(r.Errs) > 0, test.kind != 0 && (len(r.Errs) != 1 || !errors.As(r.Errs[0], &stopped) || stopped.Kind != test.kind):
					t.Errorf("ended with %v", r.Errs)
				}
			})
		})
	}
}

// What the model had said, and what was done, is there when the conversation
// is gone on with.
func TestGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.New(limit.Config{Calls: 1})
		e, _ := converse(t, b, calls("first", 1), calls("second", 2))
		et.Record(b.Watch(e.Run)(t.Context(), genai.NewPartFromText("go")))
		script := et.NewScript(et.Says("done"))
		again := engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools{}, Policy: policy.New(policy.Default)}, e.History()...)
		if r := et.Record(again.Run(t.Context(), genai.NewPartFromText("more"))); len(r.Errs) > 0 {
			t.Fatal(r.Errs)
		}
		var texts []string
		for _, c := range script.Requests()[0].Contents {
			for _, p := range c.Parts {
				if p.Text != "" {
					texts = append(texts, p.Text)
				}
			}
		}
		if got := strings.Join(texts, "|"); got != "go|first|second|[The previous response was interrupted before it completed.]|more" {
			t.Errorf("sent %q", got)
		}
	})
}

// Whoever leaves is followed, at every event.
func TestLeave(t *testing.T) {
	for at := range 12 {
		synctest.Test(t, func(t *testing.T) {
			b := limit.New(limit.Config{Calls: 1, Tokens: 1000})
			e, _ := converse(t, b, calls("hm", 1), calls("and", 2))
			n := 0
			for range b.Watch(e.Run)(t.Context(), genai.NewPartFromText("go")) {
				if n++; n > at {
					break
				}
			}
			et.CheckHistory(t, e.History())
		})
	}
}

// A limit of a context from outside is told in place of its end, and nothing
// else is.
func TestCause(t *testing.T) {
	late := limit.Timeout(5 * time.Minute)
	for _, cause := range []error{late, errors.New("a signal")} {
		b := limit.New(limit.Config{})
		e, _ := converse(t, b, et.Stalled(et.Streams("half ")))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var last error
		for ev, err := range b.Watch(e.Run)(ctx, genai.NewPartFromText("go")) {
			if _, ok := ev.(engine.Text); ok {
				cancel(cause)
			}
			last = err
		}
		if cause == late && last != late || cause != late && last != context.Canceled {
			t.Errorf("caused by %v, ended with %v", cause, last)
		}
	}
	broken := errors.New("broken")
	run := func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) { yield(nil, broken) }
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	for _, err := range limit.New(limit.Config{}).Watch(run)(ctx) {
		if err != broken {
			t.Errorf("ended with %v, want %v", err, broken)
		}
	}
	if got := late.Error(); got != "stopped: --timeout 5m is over; --timeout sets the limit" {
		t.Error(got)
	}
}
