package route_test

import (
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
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/engine/model/route"
)

const (
	pro   = "gemini-2.5-pro"
	flash = "gemini-3.8-flash"
)

// Errors as the server's are classified.
var (
	noQuota   = &model.Error{Kind: model.Quota, HTTP: 429, Final: true, Message: "the quota of requests per day is used up"}
	noRoom    = &model.Error{Kind: model.Unavailable, HTTP: 503, Code: model.CodeCapacity, Message: "the server refused: overloaded"}
	noModel   = &model.Error{Kind: model.NotFound, HTTP: 404, Final: true, Message: "model " + pro + ": not found"}
	broken    = &model.Error{Kind: model.Unavailable, HTTP: 500, Message: "internal (500)"}
	noNetwork = &model.Error{Kind: model.Unavailable, Message: "no such host"}
	gone      = &model.Error{Kind: model.Unavailable, HTTP: 503, Final: true, RetryAfter: time.Hour, Message: "come back in an hour"}
	badKey    = &model.Error{Kind: model.Auth, HTTP: 401, Final: true, Message: "the API key was refused"}
)

// A world is an engine with a Router around a script.
type world struct {
	*et.Script
	engine *engine.Engine
	router *route.Router
	health *route.Health
	asked  *et.Approver
}

func newWorld(t testing.TB, name string, action route.Action, answers []engine.Answer, replies ...et.Reply) *world {
	t.Helper()
	w := &world{Script: et.NewScript(replies...), health: &route.Health{}}
	cfg := route.Config{Model: name, Presets: presets(t, preset.ByKey), Health: w.health, Action: action}
	if answers != nil {
		w.asked = et.NewApprover(t, answers...)
		cfg.Approver = w.asked
	}
	w.router = route.New(cfg)
	g := w.router.Generator(func(attempts int) engine.Generator {
		return model.Retry(w.Script, model.RetryOptions{Attempts: attempts})
	})
	w.engine = engine.New(engine.Config{Model: w.router.Model(), Generator: g})
	return w
}

// say says something and returns what follows, in short.
func (w *world) say(t testing.TB, text string) string {
	t.Helper()
	var out []string
	for ev, err := range w.router.Run(w.engine, w.engine.Run)(t.Context(), genai.NewPartFromText(text)) {
		switch ev := ev.(type) {
		case engine.RequestStarted:
			out = append(out, "ask "+ev.Model)
		case engine.Text:
			out = append(out, ev.Delta)
		case engine.Retry:
			again := fmt.Sprintf("retry %d", ev.Attempt)
			if ev.Model != "" {
				again = "next " + ev.Model
			}
			if ev.Restart {
				again += " restart"
			}
			out = append(out, again)
		case engine.Usage:
			out = append(out, "by "+ev.Model)
		case engine.Notice:
			out = append(out, ev.Text)
		}
		if err != nil {
			out = append(out, "error: "+err.Error())
		}
	}
	return strings.Join(out, "; ")
}

// What happens when a model can't answer, by why it can't and by what was said about that.
func TestFallback(t *testing.T) {
	partly := et.Says("half")
	partly.Err = noQuota
	ok := et.Says("Done.").With(1, 1)
	once, always, no := engine.Allowed{}, engine.Allowed{Scope: engine.Session}, engine.Refused{}
	for _, c := range []struct {
		name    string
		model   string
		action  route.Action
		answers []engine.Answer
		replies []et.Reply
		want    string
		later   string // what the next prompt does, "" if it is not asked
	}{
		{"no quota", pro, route.Switch, nil, []et.Reply{et.Fails(noQuota), ok, ok},
			"ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash",
			"ask gemini-3.8-flash; Done.; by gemini-3.8-flash"},
		{"in the middle", pro, route.Switch, nil, []et.Reply{partly, ok},
			"ask gemini-2.5-pro; half; next gemini-3.8-flash restart; Done.; by gemini-3.8-flash", ""},
		{"not there", pro, route.Switch, nil, []et.Reply{et.Fails(noModel), ok}, "ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash", ""},
		{"for an hour", pro, route.Switch, nil, []et.Reply{et.Fails(gone), ok}, "ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash", ""},
		{"again and again", pro, route.Ask, []engine.Answer{}, []et.Reply{et.Fails(broken), et.Fails(broken), et.Fails(broken), ok, et.Fails(broken), ok},
			"ask gemini-2.5-pro; retry 1; retry 2; next gemini-3.8-flash; Done.; by gemini-3.8-flash",
			"gemini-2.5-pro answers; ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash"},
		{"asked, this once", pro, route.Ask, []engine.Answer{once, no}, []et.Reply{et.Fails(noQuota), ok, et.Fails(noQuota)},
			"ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash",
			"gemini-2.5-pro answers; ask gemini-2.5-pro; error: the quota of requests per day is used up"},
		{"asked, always", pro, route.Ask, []engine.Answer{always}, []et.Reply{et.Fails(noQuota), ok, ok},
			"ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash",
			"ask gemini-3.8-flash; Done.; by gemini-3.8-flash"},
		{"asked, and refused", pro, route.Ask, []engine.Answer{no}, []et.Reply{et.Fails(noQuota), ok},
			"ask gemini-2.5-pro; error: the quota of requests per day is used up", "ask gemini-2.5-pro; Done.; by gemini-2.5-pro"},
		{"nobody to ask", pro, route.Ask, nil, []et.Reply{et.Fails(noQuota), ok}, "ask gemini-2.5-pro; next gemini-3.8-flash; Done.; by gemini-3.8-flash", ""},
		{"off", pro, route.Off, nil, []et.Reply{et.Fails(noQuota)}, "ask gemini-2.5-pro; error: the quota of requests per day is used up", ""},
		{"off, and tried as often as ever", pro, route.Off, nil, []et.Reply{et.Fails(broken), et.Fails(broken), et.Fails(broken), ok},
			"ask gemini-2.5-pro; retry 1; retry 2; retry 3; Done.; by gemini-2.5-pro", ""},
		{"no chain", "my-model", route.Switch, nil, []et.Reply{et.Fails(noQuota)}, "ask my-model; error: the quota of requests per day is used up", ""},
		{"the last resort", pro, route.Switch, nil, []et.Reply{et.Fails(noQuota), et.Fails(noQuota)},
			"ask gemini-2.5-pro; next gemini-3.8-flash; error: the quota of requests per day is used up", ""},
		{"a whole chain, unasked", "flash-lite", route.Ask, []engine.Answer{}, []et.Reply{et.Fails(noQuota), et.Fails(noModel), ok},
			"ask gemini-3.5-flash-lite; next gemini-3.8-flash; next gemini-2.5-flash-lite; Done.; by gemini-2.5-flash-lite", ""},
		{"another model can't help", pro, route.Switch, nil, []et.Reply{et.Fails(badKey)}, "ask gemini-2.5-pro; error: the API key was refused", ""},
		{"no network", pro, route.Switch, nil, []et.Reply{et.Fails(noNetwork), et.Fails(noNetwork), et.Fails(noNetwork)},
			"ask gemini-2.5-pro; retry 1; retry 2; error: no such host (after 3 attempts)", ""},
		{"a chain of the user's, unasked", "alpha", route.Ask, []engine.Answer{}, []et.Reply{et.Fails(noQuota), ok, et.Fails(noQuota), ok},
			"ask alpha; next beta; Done.; by beta", "alpha answers; ask alpha; next beta; Done.; by beta"},
		{"one that is asked about mere failures", "alpha", route.Ask, []engine.Answer{once}, []et.Reply{et.Fails(broken), et.Fails(broken), ok},
			"ask alpha; retry 1; next beta; Done.; by beta", ""},
		{"one that is for unknown failures, too", "alpha", route.Switch, nil, []et.Reply{et.Fails(badKey), ok}, "ask alpha; next beta; Done.; by beta", ""},
		{"its last resort", "alpha", route.Ask, []engine.Answer{}, []et.Reply{et.Fails(noQuota), et.Fails(noQuota), et.Fails(noQuota), ok},
			"ask alpha; next beta; error: the quota of requests per day is used up", "alpha answers; ask alpha; next beta; Done.; by beta"},
		{"a mistake of ours", pro, route.Switch, nil, []et.Reply{et.Fails(errors.New("no more mock responses"))}, "ask gemini-2.5-pro; error: no more mock responses", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.model, c.action, c.answers, c.replies...)
				if got := w.say(t, "Do it."); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if c.later == "" {
					return
				}
				if got := w.say(t, "And then?"); got != c.later {
					t.Errorf("then got  %s\nwant %s", got, c.later)
				}
				if w.Left() > 0 {
					t.Errorf("%d replies are left", w.Left())
				}
			})
		})
	}
}

// A model that was at its capacity is tried again after half a minute, and that the first
// choice is back is told.
func TestCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, pro, route.Switch, nil, et.Fails(noRoom), et.Fails(noRoom), et.Fails(noRoom), et.Says("a"), et.Says("b"), et.Says("c"))
		for _, want := range []string{
			"ask gemini-2.5-pro; retry 1; retry 2; next gemini-3.8-flash; a",
			"ask gemini-3.8-flash; b",
		} {
			if got := w.say(t, "x"); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		}
		if !w.health.Down(pro) {
			t.Error("the model is not known for being at its capacity")
		}
		time.Sleep(30 * time.Second)
		if got, want := w.say(t, "x"), "gemini-2.5-pro answers; ask gemini-2.5-pro; c"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

// Who chooses a model has it tried again.
func TestChosenAgain(t *testing.T) {
	w := newWorld(t, pro, route.Switch, nil, et.Fails(noQuota), et.Says("a"), et.Says("b"))
	w.say(t, "x")
	w.router.Choose(pro)
	if got := w.say(t, "x"); got != "ask gemini-2.5-pro; b" {
		t.Error(got)
	}
}

// The question says why, and which model would answer.
func TestQuestion(t *testing.T) {
	w := newWorld(t, pro, route.Ask, []engine.Answer{engine.Refused{}}, et.Fails(noQuota))
	w.say(t, "x")
	q := w.asked.Proposals()[0].Intent
	if q.Title != "gemini-2.5-pro: the quota of requests per day is used up; let gemini-3.8-flash answer?" || q.Grants[0].Label != "gemini-3.8-flash for the rest of the session" {
		t.Errorf("%+v", q)
	}
}

// A decision holds for all the rounds of a prompt, and the classifier is asked once. That
// the mode changes is a reason to decide again.
func TestSticky(t *testing.T) {
	script := et.NewScript(classifier(t, "score 1")...)
	mode := route.Mode{}
	r := route.New(route.Config{Model: "auto", Presets: presets(t, preset.ByKey), Approver: et.NewApprover(t), Asker: &oneshot.Asker{Generator: script}, Mode: func() route.Mode { return mode }})
	c := &talk{}
	var asked []string
	modes := []route.Mode{{}, {Planning: true}, {Planning: true}, {Yolo: true}, {Planned: true}}
	run := func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			for _, m := range modes { // which each call leaves behind
				asked = append(asked, c.model)
				if mode = m; !yield(engine.CallFinished{}, nil) {
					return
				}
			}
			asked = append(asked, c.model)
		}
	}
	told := notices(t, r.Run(c, run)(t.Context(), genai.NewPartFromText("x")))
	const large, small = "gemini-4-argon", "gemini-3.8-flash"
	if want := []string{small, small, large, large, large, small}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if want := []string{small + " answers", large + " answers: it makes plans", small + " answers: it carries out plans"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("the classifier was asked %d times", n)
	}
}

// A classifier that fails twice in a row is no longer waited for.
func TestClassifierFails(t *testing.T) {
	down := et.Fails(&model.Error{Kind: model.BadRequest, Final: true, Message: "no such thing"})
	script := et.NewScript(down, classifier(t, "score 95")[0], down, down)
	c := &talk{}
	r := route.New(route.Config{Model: "auto", Presets: presets(t, preset.ByKey), Approver: et.NewApprover(t), Asker: &oneshot.Asker{Generator: script}})
	var told []string
	for range 6 {
		told = append(told, notices(t, r.Run(c, c.run)(t.Context(), genai.NewPartFromText("x")))...)
	}
	if n := len(script.Requests()); n != 4 {
		t.Errorf("the classifier was asked %d times", n)
	}
	if want := []string{"gemini-4-argon answers: the router gave no score", "gemini-4-argon answers: the router gave no score",
		"gemini-4-argon answers: the router has failed twice, and is not asked again"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

// What stands in for a model in a prompt goes on when the mode changes. Words are scored, and
// nothing else.
func TestStandInStays(t *testing.T) {
	mode := route.Mode{}
	c := &talk{}
	script, aside := et.NewScript(et.Fails(noQuota), et.Says(".")), et.NewScript()
	r := route.New(route.Config{Model: pro, Presets: presets(t, preset.ByKey), Mode: func() route.Mode { return mode }, Action: route.Ask,
		Approver: et.NewApprover(t, engine.Allowed{}), Asker: &oneshot.Asker{Generator: aside}})
	g := r.Generator(func(int) engine.Generator { return script })
	run := func(ctx context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			for range g.Generate(ctx, &engine.Request{Model: c.model}) {
			}
			mode.Yolo = true
			yield(engine.CallFinished{}, nil)
		}
	}
	notices(t, r.Run(c, run)(t.Context(), genai.NewPartFromText("x")))
	if c.model != flash || r.Shown() != pro {
		t.Errorf("%s answers, and %s is wanted", c.model, r.Shown())
	}
	r.Choose("auto")
	notices(t, r.Run(c, c.run)(t.Context(), genai.NewPartFromBytes([]byte("GIF89a"), "image/gif")))
	if c.model != "gemini-4-argon" || len(aside.Requests()) > 0 {
		t.Errorf("%s answers about a picture, scored %d times", c.model, len(aside.Requests()))
	}
}
