package steer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/steer"
)

// conversation returns an engine whose tool calls during, and what it was asked.
func conversation(during func(), journal engine.Journal, replies ...et.Reply) (*engine.Engine, *et.Script) {
	script := et.NewScript(replies...)
	work := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "work"}, Kind: engine.Edit,
		Prepare: func(context.Context, map[string]any) (engine.Call, error) {
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
				during()
				return engine.Result{Text: "worked"}, nil
			}}, nil
		}}
	return engine.New(engine.Config{Generator: script, Tools: engine.Tools{work}, Policy: allow{}, Journal: journal}), script
}

// last returns what the last message of a request says.
func last(s *et.Script) string {
	all := s.Requests()
	cs := all[len(all)-1].Contents
	return engine.TextOf(cs[len(cs)-1].Parts)
}

func TestHintGoesWithTheNextRequest(t *testing.T) {
	hints, journal := new(steer.Hints), new(et.Journal)
	during := func() { hints.Add(steer.Hint{ID: "7", Text: "use tabs\nand LF"}) }
	e, script := conversation(during, journal, et.Says("", et.Call("1", "work")), et.Says("done"))
	var given []steer.Hint
	for ev, err := range hints.Run(e, e.Run, nil)(t.Context(), genai.NewPartFromText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := ev.(engine.Notice); ok {
			var g *steer.GivenHints
			if !errors.As(n.Cause, &g) || !n.Info {
				t.Fatalf("an odd notice: %+v", n)
			}
			given = append(given, g.Hints...)
		}
	}
	if len(given) != 1 || given[0].ID != "7" || len(hints.Take()) != 0 {
		t.Errorf("given: %+v", given)
	}
	if got := steer.HintLines(last(script)); got != "- use tabs\n  and LF" {
		t.Errorf("the model was told %q", got)
	}
	et.CheckHistory(t, e.History())
	recorded := 0
	for _, en := range journal.Entries() {
		if steer.HintLines(engine.TextOf(en.Content.Parts)) != "" {
			recorded++
		}
	}
	if recorded != 1 {
		t.Errorf("the journal has %d hints", recorded)
	}
}

// A hint that comes before the first request waits for the second, since the question may
// be taken back; without a second it is left.
func TestHintIsNeverLost(t *testing.T) {
	for name, c := range map[string]struct {
		replies []et.Reply
		left    int
	}{
		"the first request fails":   {[]et.Reply{et.Fails(errors.New("no"))}, 1},
		"no call":                   {[]et.Reply{et.Says("done")}, 1},
		"a call":                    {[]et.Reply{et.Says("", et.Call("1", "work")), et.Says("done")}, 0},
		"the second request fails":  {[]et.Reply{et.Says("", et.Call("1", "work")), et.Fails(errors.New("no"))}, 0},
		"two calls in two messages": {[]et.Reply{et.Says("", et.Call("1", "work")), et.Says("", et.Call("2", "work")), et.Says("done")}, 0},
	} {
		hints := new(steer.Hints)
		hints.Add(steer.Hint{Text: "early"})
		e, _ := conversation(func() {}, nil, c.replies...)
		for range hints.Run(e, e.Run, nil)(t.Context(), genai.NewPartFromText("go")) {
		}
		said := 0
		for _, m := range e.History() {
			said += strings.Count(engine.TextOf(m.Parts), "- early")
		}
		if left := len(hints.Take()); left != c.left || said != 1-c.left {
			t.Errorf("%s: %d left, said %d times", name, left, said)
		}
	}
}

func TestConsumerLeaves(t *testing.T) {
	hints := new(steer.Hints)
	e, script := conversation(func() { hints.Add(steer.Hint{Text: "x"}) }, nil, et.Says("", et.Call("1", "work")), et.Says("done"))
	for ev := range hints.Run(e, e.Run, nil)(t.Context(), genai.NewPartFromText("go")) {
		if _, ok := ev.(engine.Notice); ok {
			break
		}
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	et.CheckHistory(t, e.History())
}

func TestNoHints(t *testing.T) {
	var none *steer.Hints
	e, _ := conversation(func() {}, nil, et.Says("done"))
	for range none.Run(e, e.Run, nil)(t.Context(), genai.NewPartFromText("go")) {
	}
	if len(none.Take()) != 0 || steer.HintLines("User hints: none") != "" {
		t.Error("hints out of nowhere")
	}
}
