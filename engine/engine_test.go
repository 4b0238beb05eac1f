package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// slow returns a tool that takes a second and prints on the way.
func slow(name string, kind engine.Kind) engine.Tool {
	return tool(name, kind, func(ctx context.Context, h engine.Host) (engine.Result, error) {
		h.Emit(engine.Output{Delta: "..."})
		select {
		case <-time.After(time.Second):
			return engine.Result{Text: "ok"}, nil
		case <-ctx.Done():
			return engine.Result{Text: "half"}, ctx.Err()
		}
	})
}

func tool(name string, kind engine.Kind, run func(context.Context, engine.Host) (engine.Result, error)) engine.Tool {
	return engine.Tool{
		Declaration: &genai.FunctionDeclaration{Name: name},
		Kind:        kind,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			target, _ := args["on"].(string)
			return engine.Call{Intent: engine.Intent{
				Title:  name + " " + target,
				Grants: []engine.Grant{{Label: "this", Tool: name, Target: target}},
			}, Run: run}, nil
		},
	}
}

// agent returns a tool that hands its task to a conversation of its own, the
// way sub-agents do: its questions go through the call that runs it.
func agent(name string, cfg engine.Config) engine.Tool {
	t := tool(name, engine.Think, func(ctx context.Context, h engine.Host) (engine.Result, error) {
		cfg := cfg
		cfg.Approver = named{h, name}
		var text strings.Builder
		for ev, err := range engine.New(cfg).Run(ctx, genai.NewPartFromText("go")) {
			if err != nil {
				return engine.Result{}, err
			}
			if t, ok := ev.(engine.Text); ok {
				text.WriteString(t.Delta)
			}
			h.Emit(engine.NestedEvent{Agent: name, Event: ev})
		}
		return engine.Result{Text: text.String()}, nil
	})
	t.Parallel = true
	return t
}

// named says whose questions it passes on.
type named struct {
	engine.Host
	agent string
}

func (n named) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	p.Agent = cmp.Or(p.Agent, n.agent)
	return n.Host.Approve(ctx, p)
}

func config(t *testing.T, g engine.Generator, tools ...engine.Tool) engine.Config {
	return engine.Config{Model: "gemini-2.5-flash", Generator: g, Tools: engine.Tools(tools),
		Policy: policy.New(policy.Default), Approver: et.NewApprover(t)}
}

func say(text string) *genai.Part { return genai.NewPartFromText(text) }

func yes() engine.Answer { return engine.Allowed{} }

func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(
			et.Says("hi", et.Call("1", "read"), et.Call("2", "read"), et.Call("3", "write"), et.Call("4", "write"), et.Call("5", "reed")),
			et.Says("bye").With(20, 3))
		cfg := config(t, g, slow("read", engine.Read), slow("write", engine.Edit))
		cfg.Approver = et.NewApprover(t, yes(), engine.Refused{Note: "not this one"})
		journal := &et.Journal{}
		cfg.Journal = journal
		e := engine.New(cfg)
		start := time.Now()
		r := et.Record(e.Run(t.Context(), say("go")))
		want := `turn 1 gemini-2.5-flash
text hi
called read#1 null
called read#2 null
called write#3 null
called write#4 null
called reed#5 null
`
		if !strings.HasPrefix(r.String(), want) || len(r.Errs) > 0 {
			t.Fatalf("got %v\n%s", r.Errs, r)
		}
		for _, line := range []string{"text bye", "usage 20+3", "finished write#4 cancelled: refused (asked)",
			`finished reed#5 error: Tool "reed" not found. Did you mean one of: "read", "write"?`} {
			if !strings.Contains(r.String(), line+"\n") {
				t.Errorf("no line %q in\n%s", line, r)
			}
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v; the reads should overlap and the writes not", took)
		}
		et.CheckHistory(t, e.History())
		answers := e.History()[2].Parts
		for i, want := range []string{"map[output:ok]", "map[output:ok]", "map[output:ok]",
			"map[error:[Operation Cancelled] Reason: User denied execution. The user said: not this one]",
			`map[error:Tool "reed" not found. Did you mean one of: "read", "write"?]`} {
			if got := fmt.Sprint(answers[i].FunctionResponse.Response); got != want {
				t.Errorf("answer %d: got %s; want %s", i, got, want)
			}
		}
		if got := len(journal.Entries()); got != len(e.History()) {
			t.Errorf("%d messages in the journal, %d in the history", got, len(e.History()))
		}
	})
}

// Wherever the consumer leaves, no goroutine survives (the bubble would not
// end) and every call has its answer.
func TestAbandon(t *testing.T) {
	for after := 1; after <= 16; after++ {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := et.NewScript(et.Says("hi", et.Call("1", "read"), et.Call("2", "read"), et.Call("3", "write")), et.Says("bye"))
				cfg := config(t, g, slow("read", engine.Read), slow("write", engine.Edit))
				cfg.Approver = et.NewApprover(t, yes())
				e := engine.New(cfg)
				n := 0
				for range e.Run(t.Context(), say("go")) {
					if n++; n == after {
						break
					}
				}
				et.CheckHistory(t, e.History())
			})
		})
	}
}

func TestCancelledTurnCanBeFollowed(t *testing.T) {
	for _, after := range []time.Duration{100 * time.Millisecond, 1500 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := et.NewScript(et.Says("hi", et.Call("1", "write"), et.Call("2", "read"), et.Call("3", "write")))
				cfg := config(t, g, slow("read", engine.Read), slow("write", engine.Edit))
				cfg.Approver = et.NewApprover(t, yes(), yes())
				e := engine.New(cfg)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(after, cancel)
				r := et.Record(e.Run(ctx, say("go")))
				if len(r.Errs) != 1 || !errors.Is(r.Errs[0], context.Canceled) {
					t.Errorf("got %v", r.Errs)
				}
				if called, finished := strings.Count(r.String(), "\ncalled"), strings.Count(r.String(), "\nfinished"); called != finished {
					t.Errorf("%d calls, %d finished:\n%s", called, finished, r)
				}
				et.CheckHistory(t, e.History())
				g.Add(et.Says("next"))
				if r := et.Record(e.Run(t.Context(), say("again"))); r.Text() != "next" || len(r.Errs) > 0 {
					t.Errorf("the next turn: %v\n%s", r.Errs, r)
				}
				requests := g.Requests()
				var asked []string
				for _, c := range requests[len(requests)-1].Contents {
					asked = append(asked, c.Role)
				}
				if s := strings.Join(asked, " "); strings.Contains(s, "user user") || strings.Contains(s, "model model") {
					t.Errorf("roles do not alternate: %s", s)
				}
			})
		})
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := et.NewScript(et.Says("hi"))
	e := engine.New(config(t, g))
	r := et.Record(e.Run(ctx, say("go")))
	if len(r.Errs) != 1 || len(r.Events) > 0 || g.Left() != 1 || len(e.History()) > 0 {
		t.Errorf("got %v, history %v\n%s", r.Errs, e.History(), r)
	}
}

func TestCancelInTheMiddleOfAnAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stalled := et.Streams("The answer ", "is ").With(7, 3)
	stalled.Stall = true
	e := engine.New(config(t, et.NewScript(stalled)))
	var err error
	heard, tokens := "", 0
	for ev, e := range e.Run(ctx, say("go")) {
		if text, ok := ev.(engine.Text); ok {
			if heard += text.Delta; heard == "The answer is " {
				cancel()
			}
		}
		if u, ok := ev.(engine.Usage); ok {
			tokens += u.Sum()
		}
		err = e
	}
	if !errors.Is(err, context.Canceled) || tokens != 10 {
		t.Errorf("got %v, and %d tokens counted", err, tokens)
	}
	if h := e.History(); len(h) != 2 || h[1].Parts[0].Text != "The answer is " {
		t.Errorf("what was said is gone: %v", h)
	}
}

// Two agents side by side, each with an agent inside that asks: every question
// reaches the one user, on the one goroutine. The slice is not locked; the race
// detector is the judge.
func TestAgentsAskInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := policy.New(policy.Default)
		leaf := func(name string) engine.Tool {
			cfg := config(t, et.NewScript(et.Says("", et.Call("w", "write")), et.Says(name+" done")), slow("write", engine.Edit))
			cfg.Policy = shared
			return agent(name, cfg)
		}
		mid := func(name string) engine.Tool {
			cfg := config(t, et.NewScript(et.Says("", et.Call("l", "leaf")), et.Says(name+" done")), leaf("leaf"))
			cfg.Policy = shared
			return agent(name, cfg)
		}
		g := et.NewScript(et.Says("", et.Call("1", "a"), et.Call("2", "b")), et.Says("bye"))
		cfg := config(t, g, mid("a"), mid("b"))
		user := et.NewApprover(t, yes(), yes())
		cfg.Approver = user
		e := engine.New(cfg)
		r := et.Record(e.Run(t.Context(), say("go")))
		if len(r.Errs) > 0 || len(user.Proposals()) != 2 {
			t.Errorf("asked %d times, %v\n%s", len(user.Proposals()), r.Errs, r)
		}
		for _, p := range user.Proposals() {
			if p.Agent != "leaf" {
				t.Errorf("%q asked", p.Agent)
			}
		}
		for _, line := range []string{"a: text a done", "b: leaf: text leaf done", "b: leaf: output write#4: ..."} {
			if !strings.Contains(r.String(), "\n"+line+"\n") {
				t.Errorf("no line %q in\n%s", line, r)
			}
		}
		for _, ev := range r.Events {
			if n, ok := ev.(engine.NestedEvent); ok {
				if who, said := engine.Unnest(ev); n.ID != engine.CallID(et.Call("1", "a")) && n.ID != engine.CallID(et.Call("2", "b")) ||
					who != "a" && who != "b" && who != "a > leaf" && who != "b > leaf" || said == nil {
					t.Errorf("%s says %v in the call %s", who, said, n.ID)
				}
			}
		}
		et.CheckHistory(t, e.History())
	})
}

func TestAtMostTenSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make([]*genai.FunctionCall, 1000)
		for i := range calls {
			calls[i] = et.Call("", "read")
		}
		running, most := 0, 0
		var e *engine.Engine
		read := slow("read", engine.Read)
		e = engine.New(config(t, et.NewScript(et.Says("", calls...), et.Says("bye")), read))
		for ev, err := range e.Run(t.Context(), say("go")) {
			if err != nil {
				t.Fatal(err)
			}
			switch ev.(type) {
			case engine.CallStarted:
				running++
				most = max(most, running)
			case engine.CallFinished:
				running--
			}
		}
		if most != engine.MaxParallel {
			t.Errorf("%d ran at once", most)
		}
		et.CheckHistory(t, e.History())
		ids := map[string]bool{}
		for _, p := range e.History()[1].Parts {
			ids[p.FunctionCall.ID] = true
		}
		if len(ids) != 1000 {
			t.Errorf("%d different ids for 1000 calls", len(ids))
		}
	})
}

func TestWaitForPrevious(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "read"), et.Call("2", "read", "wait_for_previous", true)), et.Says("bye"))
		start := time.Now()
		et.Record(engine.New(config(t, g, slow("read", engine.Read))).Run(t.Context(), say("go")))
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Each call that changes the model's notes is prepared when the call before it is over.
func TestNotesInOrder(t *testing.T) {
	notes := 0
	count := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "count"}, Kind: engine.Think,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			said := fmt.Sprint(notes)
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
				notes++
				return engine.Result{Text: said}, nil
			}}, nil
		}}
	e := engine.New(config(t, et.NewScript(et.Says("", et.Call("1", "count"), et.Call("2", "count")), et.Says("bye")), count))
	et.Record(e.Run(t.Context(), say("go")))
	for i, p := range e.History()[2].Parts {
		if got := p.FunctionResponse.Response["output"]; got != fmt.Sprint(i) {
			t.Errorf("call %d of two: %v", i, got)
		}
	}
}

func TestStrangeCalls(t *testing.T) {
	huge := strings.Repeat("x", 10<<20)
	for _, test := range []struct {
		name string
		call *genai.FunctionCall
		want string
	}{
		{"no name", &genai.FunctionCall{}, `Tool "generic_tool" not found. Did you mean "read"?`},
		{"spaces around", &genai.FunctionCall{Name: " read "}, "ok"},
		{"very long name", &genai.FunctionCall{Name: huge}, "not found"},
		{"large arguments", et.Call("1", "read", "on", huge), "ok"},
		{"prefixed id", et.Call("read__7", "read"), "ok"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(config(t, et.NewScript(et.Says("", test.call), et.Says("bye")), slow("read", engine.Read)))
				if r := et.Record(e.Run(t.Context(), say("go"))); len(r.Errs) > 0 {
					t.Fatal(r.Errs)
				}
				et.CheckHistory(t, e.History())
				if got := fmt.Sprint(e.History()[2].Parts[0].FunctionResponse.Response); !strings.Contains(got, test.want) {
					t.Errorf("answered %.200s", got)
				}
			})
		})
	}
}

// A model that calls a server's tool by the server's own name for it reads its name here.
func TestServersNameOfATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(config(t, et.NewScript(et.Says("", et.Call("1", "add")), et.Says("bye")),
			slow("ask", engine.Read), slow("mcp_addition-server_add", engine.Read)))
		et.Record(e.Run(t.Context(), say("go")))
		want := `Did you mean one of: "mcp_addition-server_add", "ask"?`
		if got := fmt.Sprint(e.History()[2].Parts[0].FunctionResponse.Response); !strings.Contains(got, want) {
			t.Errorf("answered %s", got)
		}
	})
}

func TestEditedProposalIsJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "write", "on", "a")), et.Says("bye"))
		cfg := config(t, g, slow("write", engine.Edit))
		user := et.NewApprover(t, engine.Changed{Args: map[string]any{"on": "b"}}, yes())
		cfg.Approver = user
		e := engine.New(cfg)
		et.Record(e.Run(t.Context(), say("go")))
		if ps := user.Proposals(); len(ps) != 2 || ps[1].Intent.Title != "write b" {
			t.Fatalf("asked %+v", ps)
		}
		if got := e.History()[1].Parts[0].FunctionCall.Args["on"]; got != "b" {
			t.Errorf("the history says %v ran", got)
		}
	})
}

func TestAlwaysIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "run", "on", "ls"), et.Call("2", "run", "on", "ls"), et.Call("3", "run", "on", "rm")), et.Says("bye"))
		cfg := config(t, g, slow("run", engine.Execute))
		user := et.NewApprover(t, engine.Allowed{Scope: engine.Session, Grant: engine.Grant{Tool: "run", Target: "ls"}}, engine.Refused{})
		cfg.Approver = user
		et.Record(engine.New(cfg).Run(t.Context(), say("go")))
		if n := len(user.Proposals()); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

// The model that answered stands in what is counted and kept, beside the one that
// was asked.
func TestAnotherModelAnswers(t *testing.T) {
	journal := &et.Journal{}
	reply := et.Says("hi").With(20, 3)
	reply.Chunks[0].ModelVersion = "models/another"
	cfg := config(t, et.NewScript(reply, et.Says("bye").With(1, 1)))
	cfg.Journal = journal
	e := engine.New(cfg)
	for _, want := range []string{"another", cfg.Model} {
		r := et.Record(e.Run(t.Context(), say("go")))
		u, _ := last[engine.Usage](r)
		if u.Model != want || u.RequestedModel != cfg.Model {
			t.Errorf("%s answered, %s was asked", u.Model, u.RequestedModel)
		}
		if entries := journal.Entries(); entries[len(entries)-1].Model != want {
			t.Errorf("the journal has %q", entries[len(entries)-1].Model)
		}
	}
}

func TestNobodyToAsk(t *testing.T) {
	g := et.NewScript(et.Says("", et.Call("1", "run", "on", "ls")), et.Says("bye"))
	cfg := config(t, g, slow("run", engine.Execute))
	cfg.Approver = et.NewApprover(t, engine.Unasked{Advice: "--approval-mode yolo would allow it."})
	e := engine.New(cfg)
	r := et.Record(e.Run(t.Context(), say("go")))
	f, ok := last[engine.CallFinished](r)
	if !ok || f.UnaskedAdvice == "" || f.Asked || engine.Outcome(f.Err) != engine.Failed {
		t.Errorf("got %+v", f)
	}
	if got := fmt.Sprint(e.History()[2].Parts[0].FunctionResponse.Response["error"]); !strings.Contains(got, "requires user confirmation") || !strings.Contains(got, "yolo") {
		t.Errorf("the model reads %q", got)
	}
}

func last[E engine.Event](r *et.Recorder) (found E, ok bool) {
	for _, ev := range r.Events {
		if e, is := ev.(E); is {
			found, ok = e, true
		}
	}
	return found, ok
}

func TestDeniedToolIsHiddenAndSaysWhy(t *testing.T) {
	g := et.NewScript(et.Says("", et.Call("1", "write")), et.Says("bye"))
	cfg := config(t, g, slow("write", engine.Edit), slow("read", engine.Read))
	cfg.Policy = policy.New(policy.Plan)
	e := engine.New(cfg)
	et.Record(e.Run(t.Context(), say("go")))
	declared := g.Requests()[0].Config.Tools[0].FunctionDeclarations
	if len(declared) != 1 || declared[0].Name != "read" {
		t.Errorf("declared %v", declared)
	}
	if got := fmt.Sprint(e.History()[2].Parts[0].FunctionResponse.Response["error"]); !strings.Contains(got, "Plan mode is read-only") {
		t.Errorf("the model reads %q", got)
	}
}

func TestTurnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "read")), et.Says("", et.Call("2", "read")), et.Says("never"))
		cfg := config(t, g, slow("read", engine.Read))
		cfg.MaxTurns = 2
		e := engine.New(cfg)
		r := et.Record(e.Run(t.Context(), say("go")))
		if len(r.Errs) != 1 || !errors.Is(r.Errs[0], engine.ErrMaxTurns) || g.Left() != 1 {
			t.Errorf("got %v, %d replies left", r.Errs, g.Left())
		}
		et.CheckHistory(t, e.History())
	})
}

// A question whose request failed may be why it failed; the next request must
// not carry it. One that came after tool calls stays, since work was done.
func TestFailedQuestionIsTakenBack(t *testing.T) {
	boom := errors.New("boom")
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Fails(boom), et.Says("", et.Call("1", "read")), et.Fails(boom), et.Says("bye"))
		cfg := config(t, g, slow("read", engine.Read))
		journal := &et.Journal{}
		cfg.Journal = journal
		e := engine.New(cfg)
		if r := et.Record(e.Run(t.Context(), say("poison"))); len(r.Errs) != 1 || !errors.Is(r.Errs[0], boom) {
			t.Fatal(r.Errs)
		}
		if len(e.History()) != 0 || len(journal.Entries()) != 0 {
			t.Fatalf("kept %v", e.History())
		}
		et.Record(e.Run(t.Context(), say("work")))
		et.Record(e.Run(t.Context(), say("on")))
		et.CheckHistory(t, e.History())
		if got := len(e.History()); got != 6 {
			t.Errorf("%d messages", got)
		}
		if got := e.History()[3].Parts[0].Text; got != "[The previous response was interrupted before it completed.]" {
			t.Errorf("got %q", got)
		}
	})
}

// What a Generator takes back is in neither the history nor the record.
func TestRetractedAttempt(t *testing.T) {
	first := et.Says("wrong ")
	g := retracting{et.NewScript(first, et.Says("right"))}
	e := engine.New(config(t, g))
	r := et.Record(e.Run(t.Context(), say("go")))
	if r.Text() != "right" || e.History()[1].Parts[0].Text != "right" {
		t.Errorf("got %q, history %q", r.Text(), e.History()[1].Parts[0].Text)
	}
}

type retracting struct{ *et.Script }

func (g retracting) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		for i := range 2 {
			for c, err := range g.Script.Generate(ctx, req) {
				if !yield(c, err) {
					return
				}
			}
			if i == 0 {
				req.Notify(engine.Retry{Attempt: 1, MaxAttempts: 2, Err: errors.New("bad"), Restart: true})
			}
		}
	}
}

func TestJournalThatFailsIsToldOnce(t *testing.T) {
	cfg := config(t, et.NewScript(et.Says("a"), et.Says("b")))
	cfg.Journal = &et.Journal{Fail: errors.New("no space left on device")}
	e := engine.New(cfg)
	r := et.Record(e.Run(t.Context(), say("one")))
	r2 := et.Record(e.Run(t.Context(), say("two")))
	if all := r.String() + r2.String(); strings.Count(all, "notice") != 1 || !strings.Contains(all, "no longer saved: no space left") {
		t.Errorf("got\n%s", all)
	}
	if len(r.Errs)+len(r2.Errs) > 0 || r2.Text() != "b" {
		t.Error("the conversation did not go on")
	}
}

func TestPanicOfAToolReachesTheConsumer(t *testing.T) {
	bad := tool("read", engine.Read, func(context.Context, engine.Host) (engine.Result, error) { panic("oh no") })
	e := engine.New(config(t, et.NewScript(et.Says("", et.Call("1", "read"), et.Call("2", "read"))), bad))
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "oh no") {
			t.Errorf("recovered %v", v)
		}
	}()
	et.Record(e.Run(t.Context(), say("go")))
}

func TestQuestionThatDoesNotFit(t *testing.T) {
	g := et.NewScript(et.Says("x").With(900, 10), et.Says("y"))
	cfg := config(t, g)
	cfg.TokenLimit = func(string) int { return 1000 }
	e := engine.New(cfg)
	et.Record(e.Run(t.Context(), say("small")))
	r := et.Record(e.Run(t.Context(), say(strings.Repeat("word ", 200))))
	var over *engine.OverflowError
	if len(r.Errs) != 1 || !errors.As(r.Errs[0], &over) || over.Request != 250 || over.Remaining != 90 {
		t.Errorf("got %v", r.Errs)
	}
	if len(e.History()) != 2 || g.Left() != 1 {
		t.Error("something was sent or kept")
	}
}

// What the opening message says can change while the conversation goes on.
func TestReopen(t *testing.T) {
	script := et.NewScript(et.Says("hello"), et.Says("again"))
	now := "one"
	var j et.Journal
	e := engine.New(engine.Config{Generator: script, Tools: engine.Tools{}, Policy: policy.New(policy.Default), Journal: &j,
		Opening: func(context.Context) *genai.Content {
			if now == "" {
				return nil
			}
			return genai.NewContentFromText(now, genai.RoleUser)
		}})
	e.RefreshOpening(t.Context())
	if len(e.History()) != 0 {
		t.Error("there was nothing to open again")
	}
	et.Record(e.Run(t.Context(), genai.NewPartFromText("hi")))
	before := e.History()
	for _, now = range []string{"two", ""} { // without a message the last one stays
		e.RefreshOpening(t.Context())
	}
	et.Record(e.Run(t.Context(), genai.NewPartFromText("and")))
	if got := e.History(); got[0].Parts[0].Text != "two" || got[1] != before[1] || len(got) != 5 {
		t.Errorf("the history begins with %q and has %d messages", got[0].Parts[0].Text, len(got))
	}
	if before[0].Parts[0].Text != "one" {
		t.Error("a history that was given out has changed")
	}
	openings := 0
	for _, entry := range j.Entries() {
		if entry.Opening {
			openings++
		}
	}
	if openings != 2 {
		t.Errorf("%d opening messages are recorded", openings)
	}
}

// However a call ends, and whoever runs beside it, the journal knows how before
// anybody is told.
func TestRecordedBeforeReported(t *testing.T) {
	journal := &et.Journal{}
	look := func(name string, kind engine.Kind) engine.Tool {
		return tool(name, kind, func(context.Context, engine.Host) (engine.Result, error) { return engine.Result{Text: name}, nil })
	}
	e := engine.New(engine.Config{Model: "m", Journal: journal, Policy: policy.New(policy.Yolo), Tools: engine.Tools{look("read", engine.Read), look("write", engine.Edit)},
		Generator: et.NewScript(et.Says("", et.Call("1", "read"), et.Call("2", "read"), et.Call("3", "write"), et.Call("4", "nosuch")), et.Says("Done."))})
	finished := 0
	for ev, err := range e.Run(t.Context(), genai.NewPartFromText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := ev.(engine.CallFinished); ok {
			finished++
			if !slices.ContainsFunc(journal.Results(), func(r engine.CallRecord) bool { return r.ID == f.ID && len(r.Answer) > 0 }) {
				t.Errorf("%s was reported before it was recorded", f.ID)
			}
		}
	}
	if n := len(journal.Results()); finished != 4 || n != 4 {
		t.Errorf("%d reported, %d recorded", finished, n)
	}
}
