package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// asks returns a tool that asks the user and repeats the answer.
func asks(name string) engine.Tool {
	t := tool(name, engine.AskUser, nil)
	t.Prepare = func(context.Context, map[string]any) (engine.Call, error) {
		in := engine.Intent{Title: name, Questions: []engine.Question{{Text: "Which?", Kind: engine.FreeText}}}
		return engine.Call{Intent: in, Run: func(ctx context.Context, h engine.Host) (engine.Result, error) {
			a, err := h.Approve(ctx, engine.Proposal{Tool: t, Intent: in})
			said, _ := a.(engine.Replied)
			return engine.Result{Text: fmt.Sprint(said.Replies)}, err
		}}, nil
	}
	return t
}

// Where a rule has the user asked about a call that asks, that is another question
// than those of the call.
func TestQuestionByRule(t *testing.T) {
	rules, _, err := policy.Parse("rules", policy.User, []byte("[[rule]]\ntoolName = \"ask\"\ndecision = \"ask_user\"\npriority = 1"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t, et.NewScript(et.Says("", et.Call("1", "ask")), et.Says("bye")), asks("ask"))
	cfg.Policy = policy.New(policy.Default, rules...)
	user := et.NewApprover(t, engine.Allowed{}, engine.Replied{Replies: []string{"this"}})
	cfg.Approver = user
	for ev, err := range engine.New(cfg).Run(t.Context(), say("go")) {
		if f, ok := ev.(engine.CallFinished); err != nil || ok && f.Result.Text != "[this]" {
			t.Errorf("got %v, %v", ev, err)
		}
	}
	if ps := user.Proposals(); len(ps) != 2 || len(ps[0].Intent.Questions) != 0 || len(ps[1].Intent.Questions) != 1 {
		t.Errorf("asked about %v", ps)
	}
}

// A question comes after what was called before it and before what was called
// after it, is not asked about itself, and names its call.
func TestQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "read"), et.Call("2", "ask"), et.Call("3", "read")), et.Says("bye"))
		cfg := config(t, g, slow("read", engine.Read), asks("ask"))
		user := et.NewApprover(t, engine.Replied{Replies: []string{"this"}})
		cfg.Approver = user
		e := engine.New(cfg)
		var order []string
		for ev, err := range e.Run(t.Context(), say("go")) {
			if err != nil {
				t.Fatal(err)
			}
			switch ev := ev.(type) {
			case engine.CallStarted:
				order = append(order, "start "+ev.ID)
			case engine.CallFinished:
				order = append(order, "end "+ev.ID)
				if ev.Asked {
					t.Errorf("%s was asked about", ev.ID)
				}
			}
		}
		want := []string{"start read__1", "end read__1", "start ask__2", "end ask__2", "start read__3", "end read__3"}
		if !slices.Equal(order, want) {
			t.Errorf("got %v", order)
		}
		if ps := user.Proposals(); len(ps) != 1 || ps[0].ID != "ask__2" {
			t.Errorf("asked %v", ps)
		}
		et.CheckHistory(t, e.History())
		if got := fmt.Sprint(e.History()[2].Parts[1].FunctionResponse.Response); got != "map[output:[this]]" {
			t.Errorf("the model reads %s", got)
		}
	})
}

// leaves is a user who stops everything instead of answering.
type leaves struct{}

var errLeft = errors.New("left")

func (leaves) Approve(context.Context, engine.Proposal) (engine.Answer, error) {
	return nil, errLeft
}

// Whoever asks, in this conversation or in an agent's: a user who stops instead
// of answering ends the Run, and every call has its answer.
func TestQuestionThatEndsTheRun(t *testing.T) {
	for _, depth := range []int{0, 1, 2} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				question := asks("ask")
				for range depth {
					cfg := config(t, et.NewScript(et.Says("", et.Call("1", "ask")), et.Says("done")), question)
					question = agent("ask", cfg)
				}
				g := et.NewScript(et.Says("", et.Call("1", "ask"), et.Call("2", "read")), et.Says("bye"))
				cfg := config(t, g, question, slow("read", engine.Read))
				cfg.Approver = leaves{}
				e := engine.New(cfg)
				r := et.Record(e.Run(t.Context(), say("go")))
				if len(r.Errs) != 1 || !errors.Is(r.Errs[0], errLeft) {
					t.Errorf("the Run ended with %v", r.Errs)
				}
				if g.Left() != 1 {
					t.Error("the conversation went on")
				}
				et.CheckHistory(t, e.History())
			})
		})
	}
}

// A tool that is not there is neither declared nor found, until it is.
func TestToolThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there := false
		extra := slow("extra", engine.Read)
		extra.When = func() bool { return there }
		g := et.NewScript(et.Says("", et.Call("1", "extra")), et.Says("no"), et.Says("", et.Call("2", "extra")), et.Says("yes"))
		cfg := config(t, g, slow("read", engine.Read), extra)
		e := engine.New(cfg)
		et.Record(e.Run(t.Context(), say("go")))
		there = true
		et.Record(e.Run(t.Context(), say("go")))
		var got []string
		for _, c := range e.History() {
			if fr := c.Parts[0].FunctionResponse; fr != nil {
				got = append(got, fmt.Sprint(fr.Response))
			}
		}
		if want := []string{`map[error:Tool "extra" not found. Did you mean "read"?]`, "map[output:ok]"}; !slices.Equal(got, want) {
			t.Errorf("answered %q", got)
		}
		names := func(r *engine.Request) (names []string) {
			for _, d := range r.Config.Tools[0].FunctionDeclarations {
				names = append(names, d.Name)
			}
			return names
		}
		if first, last := names(g.Requests()[0]), names(g.Requests()[3]); len(first) != 1 || len(last) != 2 {
			t.Errorf("declared %v, then %v", first, last)
		}
		if engine.KindOf(cfg.Tools, "extra") != engine.Read {
			t.Error("its kind is not known")
		}
		et.CheckHistory(t, e.History())
	})
}

// Without a user there is no question: the call is denied like any other that
// the policy does not allow.
func TestQuestionWithoutAUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := et.NewScript(et.Says("", et.Call("1", "ask")), et.Says("bye"))
		cfg := config(t, g, asks("ask"))
		p := policy.New(policy.Yolo)
		p.Unattended = true
		cfg.Policy = p
		e := engine.New(cfg)
		for ev := range e.Run(t.Context(), say("go")) {
			if f, ok := ev.(engine.CallFinished); ok && engine.ErrorType(f.Err) != engine.PolicyViolation {
				t.Errorf("finished with %v", f.Err)
			}
		}
		var none *genai.Tool
		if ts := g.Requests()[0].Config.Tools; len(ts) > 0 && ts[0] != none {
			t.Errorf("declared %v", ts[0].FunctionDeclarations)
		}
		et.CheckHistory(t, e.History())
	})
}
