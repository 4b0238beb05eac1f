package tally

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

// A clock is moved by hand.
type clock struct{ t time.Time }

func (c *clock) after(d time.Duration) time.Time {
	c.t = c.t.Add(d)
	return c.t
}

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func session() (*Tally, *clock) {
	t, c := &Tally{Class: func(error) string { return "unavailable" }}, newClock()
	t.Start(c.t)
	see := func(ev engine.Event) { t.Observe(ev, c.after(10*time.Millisecond)) }
	see(engine.RequestStarted{Number: 1, Model: "gemini-2.5-flash"})
	see(engine.Text{Delta: "Let me look."})
	see(engine.Usage{Model: "gemini-2.5-flash", Prompt: 100, Output: 4, Cached: 40, Thoughts: 10, Total: 114, Took: 3 * time.Millisecond})
	see(engine.CallRequested{ID: "a", Name: "read_file"})
	see(engine.CallRequested{ID: "b", Name: "replace"})
	see(engine.CallRequested{ID: "c", Name: "replace"})
	see(engine.CallRequested{ID: "d", Name: "nothing"})
	see(engine.CallStateChanged{ID: "a", Name: "read_file", State: engine.Scheduled})
	see(engine.CallFinished{ID: "a", Name: "read_file", Took: 44 * time.Millisecond})
	see(engine.CallStateChanged{ID: "b", Name: "replace", State: engine.Scheduled})
	see(engine.CallFinished{ID: "b", Name: "replace", Took: 47 * time.Millisecond, Asked: true, Result: engine.Result{Changes: []engine.Change{
		{Path: "/w/a", Added: 5, Removed: 2}, {Path: "/w/b", Added: 1}}}})
	see(engine.CallFinished{ID: "c", Name: "replace", Asked: true, Err: engine.ErrRefused})
	see(engine.CallFinished{ID: "d", Name: "nothing", Err: &engine.CallError{Type: engine.ToolNotRegistered}})
	see(engine.RequestStarted{Number: 2, Model: "gemini-2.5-flash"})
	see(engine.Retry{Attempt: 1, MaxAttempts: 3, Delay: time.Second, Err: errors.New("503")})
	see(engine.Usage{Model: "gemini-2.5-flash", Prompt: 10, Output: 1, Total: 11, Took: 5 * time.Second})
	see(engine.RequestStarted{Number: 3, Model: "gemini-3-pro"})
	return t, c
}

const golden = `{
  "models": {
    "gemini-2.5-flash": {
      "api": {
        "totalRequests": 3,
        "totalErrors": 1,
        "totalLatencyMs": 13,
        "errorsByType": {
          "unavailable": 1
        }
      },
      "tokens": {
        "input": 70,
        "prompt": 110,
        "candidates": 5,
        "total": 125,
        "cached": 40,
        "thoughts": 10,
        "tool": 0
      },
      "roles": {
        "main": {
          "totalRequests": 3,
          "totalErrors": 1,
          "totalLatencyMs": 13,
          "tokens": {
            "input": 70,
            "prompt": 110,
            "candidates": 5,
            "total": 125,
            "cached": 40,
            "thoughts": 10,
            "tool": 0
          }
        }
      }
    },
    "gemini-3-pro": {
      "api": {
        "totalRequests": 1,
        "totalErrors": 0,
        "totalLatencyMs": 10,
        "errorsByType": {}
      },
      "tokens": {
        "input": 0,
        "prompt": 0,
        "candidates": 0,
        "total": 0,
        "cached": 0,
        "thoughts": 0,
        "tool": 0
      },
      "roles": {
        "main": {
          "totalRequests": 1,
          "totalErrors": 0,
          "totalLatencyMs": 10,
          "tokens": {
            "input": 0,
            "prompt": 0,
            "candidates": 0,
            "total": 0,
            "cached": 0,
            "thoughts": 0,
            "tool": 0
          }
        }
      }
    }
  },
  "tools": {
    "totalCalls": 4,
    "totalSuccess": 2,
    "totalFail": 2,
    "totalDurationMs": 91,
    "totalDecisions": {
      "accept": 2,
      "reject": 1,
      "modify": 0,
      "auto_accept": 0
    },
    "byName": {
      "read_file": {
        "count": 1,
        "success": 1,
        "fail": 0,
        "durationMs": 44,
        "decisions": {
          "accept": 1,
          "reject": 0,
          "modify": 0,
          "auto_accept": 0
        }
      },
      "replace": {
        "count": 2,
        "success": 1,
        "fail": 1,
        "durationMs": 47,
        "decisions": {
          "accept": 1,
          "reject": 1,
          "modify": 0,
          "auto_accept": 0
        }
      },
      "nothing": {
        "count": 1,
        "success": 0,
        "fail": 1,
        "durationMs": 0,
        "decisions": {
          "accept": 0,
          "reject": 0,
          "modify": 0,
          "auto_accept": 0
        }
      }
    }
  },
  "files": {
    "totalLinesAdded": 6,
    "totalLinesRemoved": 2
  }
}`

func TestJSON(t *testing.T) {
	ta, c := session()
	ta.End(nil, c.after(10*time.Millisecond))
	b, err := json.Marshal(ta)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	json.Indent(&out, b, "", "  ")
	if diff := cmp.Diff(golden, out.String()); diff != "" {
		t.Error(diff)
	}
	const flat = `{"total_tokens":125,"input_tokens":110,"output_tokens":5,"cached":40,"input":70,"duration_ms":142,"tool_calls":4,` +
		`"models":{"gemini-2.5-flash":{"total_tokens":125,"input_tokens":110,"output_tokens":5,"cached":40,"input":70},` +
		`"gemini-3-pro":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0}}}`
	if diff := cmp.Diff(flat, string(ta.Flat(142*time.Millisecond))); diff != "" {
		t.Error(diff)
	}
}

// Nothing counted yet is still the whole shape.
func TestEmpty(t *testing.T) {
	const want = `{"models":{},"tools":{"totalCalls":0,"totalSuccess":0,"totalFail":0,"totalDurationMs":0,` +
		`"totalDecisions":{"accept":0,"reject":0,"modify":0,"auto_accept":0},"byName":{}},` +
		`"files":{"totalLinesAdded":0,"totalLinesRemoved":0}}`
	b, err := json.Marshal(&Tally{})
	if err != nil || string(b) != want {
		t.Errorf("%v\n got %s\nwant %s", err, b, want)
	}
	for _, ls := range [][]string{(&Tally{}).Overview(newClock().t), (&Tally{}).Models(), (&Tally{}).Tools()} {
		if len(ls) == 0 {
			t.Error("nothing is said")
		}
	}
}

// How a request ended is counted once, whatever tells of it.
func TestRequests(t *testing.T) {
	turn := engine.RequestStarted{Model: "m"}
	usage := engine.Usage{Model: "m", Prompt: 1, Took: time.Second}
	retry := engine.Retry{Delay: time.Second, Err: errors.New("x")}
	tests := []struct {
		name             string
		events           []engine.Event
		end              error
		requests, errors int
	}{
		{"answered", []engine.Event{turn, usage}, nil, 1, 0},
		{"without usage", []engine.Event{turn}, nil, 1, 0},
		{"without usage, with calls", []engine.Event{turn, engine.CallRequested{}}, nil, 1, 0},
		{"failed", []engine.Event{turn}, errors.New("x"), 1, 1},
		{"failed after an answer", []engine.Event{turn, usage}, errors.New("x"), 1, 0},
		{"failed twice, answered", []engine.Event{turn, retry, retry, usage}, nil, 3, 2},
		{"failed for good", []engine.Event{turn, retry, retry}, errors.New("x"), 3, 3},
		{"turn limit", nil, engine.ErrMaxTurns, 0, 0},
		{"never asked", nil, errors.New("x"), 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var ta Tally
			c := newClock()
			ta.Start(c.t)
			for _, ev := range test.events {
				ta.Observe(ev, c.after(time.Second))
			}
			ta.End(test.end, c.after(time.Second))
			m := ta.counts.models.at("m")
			if m.all.Requests != test.requests || m.all.calls.Errors != test.errors {
				t.Errorf("%d requests, %d errors; want %d, %d", m.all.Requests, m.all.calls.Errors, test.requests, test.errors)
			}
		})
	}
}

func TestText(t *testing.T) {
	ta, c := session()
	if got, want := ta.Span(c.after(12*time.Second)).String(), "12 s, 4 tools (1 failed, 1 refused), 2 files changed, 125 tokens"; got != want {
		t.Errorf("span %q, want %q", got, want)
	}
	ta.Start(c.after(time.Hour))
	if got, want := ta.Span(c.after(0)).String(), "0.0 s"; got != want {
		t.Errorf("span %q, want %q", got, want)
	}
	want := []string{
		"Time: 1 h 0 min since the first question; 0.0 s for the model's answers, 0.1 s for tools.",
		"Tool calls: 4 calls, 2 succeeded, 2 did not (50 % succeeded). You were asked about 2 and refused 1.",
		"Files: 2 files changed; 6 lines added, 2 removed.",
		"Model gemini-2.5-flash: 3 requests, 110 tokens in (40 of them cached, 36 %), 5 out.",
	}
	if diff := cmp.Diff(want, ta.Overview(c.t)); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(ta.Tools(), "\n"); !strings.Contains(got, "Tool replace: 2 calls, 1 succeeded, 1 did not") {
		t.Errorf("tools:\n%s", got)
	}
	if got := strings.Join(ta.Models(), "\n"); !strings.Contains(got, "Requests: 3, 1 failed (33 %); unavailable: 1") {
		t.Errorf("models:\n%s", got)
	}
}

// Conversations side by side, each inside a call, are counted beside the one that
// they are inside of.
func TestAgents(t *testing.T) {
	s, c := &Tally{}, newClock()
	s.Start(c.t)
	a := func(ev engine.Event) engine.Event { return engine.NestedEvent{ID: "1", Agent: "a", Event: ev} }
	b := func(ev engine.Event) engine.Event { return engine.NestedEvent{ID: "2", Agent: "b", Event: ev} }
	for _, ev := range []engine.Event{
		engine.RequestStarted{Model: "outer"}, engine.Usage{Model: "outer", Total: 1}, engine.CallRequested{ID: "1"}, engine.CallRequested{ID: "2"},
		a(engine.RequestStarted{Model: "one"}), b(engine.RequestStarted{Model: "two"}), a(engine.Usage{Model: "one", Total: 10}),
		a(engine.CallRequested{ID: "x"}), a(engine.CallStateChanged{ID: "x", State: engine.Scheduled}), a(b(engine.RequestStarted{Model: "two"})), a(b(engine.Usage{Model: "two", Total: 100})),
		a(engine.CallFinished{ID: "x", Name: "look"}),
		engine.CallFinished{ID: "2", Name: "agent", Err: errors.New("503")}, engine.CallFinished{ID: "1", Name: "agent"},
		engine.RequestStarted{Model: "outer"}, engine.Usage{Model: "outer", Total: 1000},
	} {
		s.Observe(ev, c.after(time.Second))
	}
	s.End(nil, c.t)
	got := ""
	for i, name := range s.counts.models.keys {
		m := s.counts.models.values[i]
		got += fmt.Sprintf("%s %d requests, %d failed, %d tokens\n", name, m.all.Requests, m.all.calls.Errors, m.all.Tokens.Total)
	}
	want := "outer 2 requests, 0 failed, 1001 tokens\none 1 requests, 0 failed, 10 tokens\ntwo 2 requests, 1 failed, 100 tokens\n"
	if got != want || s.counts.all.Count != 3 || len(s.open.requests) > 0 {
		t.Errorf("%d calls, %d requests are open; got\n%s", s.counts.all.Count, len(s.open.requests), got)
	}
	if d := s.counts.tools.at("look").Decisions; d.Accept != 1 {
		t.Errorf("%+v", d)
	}
	got = ""
	for i, name := range s.counts.agents.keys {
		a := s.counts.agents.values[i]
		got += fmt.Sprintf("%s %d runs, %d failed, %d requests, %d failed, %d calls, %d tokens\n", name, a.Runs, a.Failed, a.all.Requests, a.all.Errors, a.Calls, a.all.Tokens.Total)
	}
	if want := "a 1 runs, 0 failed, 1 requests, 0 failed, 1 calls, 10 tokens\nb 1 runs, 1 failed, 2 requests, 1 failed, 0 calls, 100 tokens\n"; got != want {
		t.Errorf("agents:\n%s", got)
	}
	if m := s.counts.models.at("two"); m.Roles.at("subagent").Requests != 2 || m.Roles.at("main").Requests != 0 {
		t.Errorf("roles: %+v", m.Roles)
	}
	if lines := strings.Join(s.Overview(c.t), "\n"); !strings.Contains(lines, "Agent b: called 1 time, 1 without a report, 0.0 s; 2 requests, 0 tool calls, 0 tokens in, 0 out.") {
		t.Error(lines)
	}
}

func TestSaid(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0 s", 300 * time.Millisecond: "0.3 s", 9960 * time.Millisecond: "10 s", 12 * time.Second: "12 s",
		59700 * time.Millisecond: "1 min 0 s", 125 * time.Second: "2 min 5 s", 3599600 * time.Millisecond: "1 h 0 min", 2*time.Hour + 31*time.Minute: "2 h 31 min",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}

// Whatever names a model or a server makes up, the result is JSON.
func FuzzJSON(f *testing.F) {
	f.Add("m", "t", 1, 2)
	f.Add("\xff\x00<&>", "\u2028\"\\", -1, 1<<62)
	f.Fuzz(func(t *testing.T, model, name string, a, b int) {
		ta := Tally{Cost: func(u engine.Usage) (float64, string, bool) { return float64(u.Prompt) * 1.5, "2026-01-01", name != "" }}
		now := newClock().t
		ta.Observe(engine.RequestStarted{Model: model}, now)
		ta.Observe(engine.Usage{Model: model, Prompt: a, Cached: b}, now)
		ta.Observe(engine.CallFinished{Name: name, Took: time.Duration(b)}, now)
		out, err := json.Marshal(&ta)
		if err != nil || !json.Valid(out) || !json.Valid(ta.Flat(time.Duration(a))) {
			t.Errorf("%v: %s", err, out)
		}
		said := slices.Concat(ta.Overview(now), ta.Models(), ta.Tools())
		if s := strings.Join(said, ""); strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
			t.Errorf("%q", s)
		}
	})
}

// What the model calls a tool is written in a form that does no harm.
func TestNamesArePrintable(t *testing.T) {
	var s Tally
	for _, name := range []string{"a\x1b[1m", "b\xff", "b\xfe", "c\u0085"} {
		s.Observe(engine.CallFinished{Name: name}, time.Time{})
	}
	b, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"a[1m":{"count":1,`, `"b` + "\ufffd" + `":{"count":2,`, `"c":{"count":1,`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

// A part counts what comes after it began, and the whole counts everything.
func TestParts(t *testing.T) {
	var whole Tally
	c := newClock()
	for n := range 2 {
		var part Tally
		whole.Begin(&part)
		whole.Start(c.t)
		whole.Observe(engine.RequestStarted{Model: "m"}, c.after(time.Second))
		whole.Observe(engine.Usage{Model: "m", Prompt: 5, Total: 5}, c.after(time.Second))
		whole.End(nil, c.after(time.Second))
		if part.Tokens() != 5 || whole.Tokens() != 5*(n+1) {
			t.Errorf("part %d has %d tokens, and the whole %d", n+1, part.Tokens(), whole.Tokens())
		}
	}
}

// A question beside the conversation that has no answer counts in its role, and what was
// refused before it was asked does not.
func TestFailedBeside(t *testing.T) {
	tl := &Tally{Class: func(err error) string {
		if err == engine.ErrMaxTurns {
			return ""
		}
		return "server"
	}}
	now := time.Now()
	tl.Observe(engine.RequestStarted{Model: "m"}, now)
	tl.Observe(engine.Usage{Model: "lite", Role: "utility_router", Took: 3 * time.Second, Err: errors.New("busy")}, now)
	tl.Observe(engine.Usage{Model: "lite", Role: "utility_router", Err: engine.ErrMaxTurns}, now)
	tl.Observe(engine.Usage{Model: "lite", Role: "utility_router", Took: time.Second, Prompt: 5}, now)
	tl.Observe(engine.Usage{Model: "m", Took: time.Second, Prompt: 1}, now)
	got := strings.Join(tl.Models(), "\n")
	for _, want := range []string{"Model lite\n  Requests: 2, 1 failed (50 %); server: 1\n  Average time: 2.0 s\n",
		"As utility_router: 2 requests, 5 tokens in", "Model m\n  Requests: 1, 0 failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The time in which the user decides about a request that has failed is none of the model's,
// whoever counts.
func TestAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole, part := &Tally{}, &Tally{}
		whole.Begin(part)
		whole.Start(time.Now())
		whole.Observe(engine.RequestStarted{Model: "m"}, time.Now())
		time.Sleep(time.Second)
		if _, err := whole.Asking(slow{}).Approve(t.Context(), engine.Proposal{}); err != nil {
			t.Fatal(err)
		}
		whole.Observe(engine.Retry{Attempt: 1, MaxAttempts: 2, Err: errors.New("no quota"), Model: "n"}, time.Now())
		time.Sleep(2 * time.Second)
		whole.Observe(engine.Usage{Model: "n", Took: 100 * time.Second, Prompt: 1}, time.Now())
		for _, tl := range []*Tally{whole, part} {
			if got := strings.Join(tl.Overview(time.Now()), "\n"); !strings.Contains(got, "; 3.0 s for the model's answers") {
				t.Error(got)
			}
			if took := tl.Span(time.Now()).Took; took != 3*time.Second {
				t.Errorf("the turn took %v", took)
			}
		}
		whole.Start(time.Now())
		time.Sleep(time.Second)
		if took := whole.Span(time.Now()).Took; took != time.Second {
			t.Errorf("the next turn took %v", took)
		}
		if whole.Asking(nil) != nil {
			t.Error("somebody is asked")
		}
	})
}

// A slow user says yes after a minute.
type slow struct{}

func (slow) Approve(context.Context, engine.Proposal) (engine.Answer, error) {
	time.Sleep(time.Minute)
	return engine.Allowed{}, nil
}

// Of an agent that is called twice at once, the call in which the user was asked takes less
// time by that, whichever ends first.
func TestAgentsAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Tally{}
		start := time.Now()
		see := func(ev engine.Event) { s.Observe(ev, time.Now()) }
		for _, id := range []string{"1", "2"} {
			see(engine.CallRequested{ID: id})
			see(engine.NestedEvent{ID: id, Agent: "a", Event: engine.CallRequested{ID: "in " + id}})
		}
		time.Sleep(time.Second)
		if _, err := s.Asking(slow{}).Approve(t.Context(), engine.Proposal{ID: "in 2", Agent: "a"}); err != nil {
			t.Fatal(err)
		}
		see(engine.CallFinished{ID: "1", Name: "first", Took: time.Since(start)})
		see(engine.CallFinished{ID: "2", Name: "second", Took: time.Since(start)})
		if first, second := s.counts.tools.at("first").Took, s.counts.tools.at("second").Took; first != millis(61*time.Second) || second != millis(time.Second) {
			t.Errorf("the first took %v, the second %v", first, second)
		}
	})
}
