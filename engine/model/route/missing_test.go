package route_test

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
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/engine/model/route"
)

// gone returns the error of a model that the server does not have.
func gone404(name string) error {
	return &model.Error{Kind: model.NotFound, HTTP: 404, Final: true, Message: "model " + name + ": not found", Advice: "as before"}
}

// Where the server lacks a model, the nearest that it has answers, or is named.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		model  string
		action route.Action
		there  []string // nil says that the server can't be asked
		want   string   // who answers, or the hint of the error
	}{
		{"pro", route.Switch, []string{"gemini-3.1-pro-preview", "gemini-3.8-flash"}, "gemini-3.1-pro-preview"},
		{"pro", route.Switch, []string{"gemini-3.6-flash"}, "gemini-3.6-flash"},
		{"pro", route.Switch, nil, "gemini-3.8-flash"}, // by its chain
		{"gemini-2.5-flash", route.Switch, []string{"gemini-3.5-flash-lite"}, "gemini-3.5-flash-lite"},
		{"gemini-2.5-flash", route.Ask, []string{"gemini-3.8-flash"}, "gemini-3.8-flash"}, // nobody is there to be asked
		{"gemini-2.5-flash", route.Switch, nil, "gemini-3.5-flash-lite"},
		{"gemini-3.8-flash", route.Switch, []string{"gemini-3.7-flash"}, "gemini-3.7-flash"},
		{"alpha", route.Switch, []string{"gemini-3.8-flash", "beta"}, "beta"}, // by the user's chain
		{"gemini-2.5-flash", route.Off, []string{"gemini-3.8-flash"}, "there is gemini-3.8-flash; choose it with -m or /model"},
		{"gemini-2.5-flahs", route.Switch, []string{"gemini-2.5-flash", "other"}, "there is gemini-2.5-flash; choose it with -m or /model"},
		{"closed-to-us", route.Switch, []string{"closed-to-us", "other"}, "as before"},
		{"nothing-like-it", route.Switch, []string{"gemini-2.5-flash"}, "as before"},
		{"my-model", route.Switch, nil, "as before"},
	} {
		asked, health := 0, &route.Health{}
		r := route.New(route.Config{Model: c.model, Presets: presets(t, preset.ByKey), Health: health, Action: c.action,
			List: func(context.Context) ([]string, error) {
				if asked++; c.there == nil {
					return nil, errors.New("no list")
				}
				return c.there, nil
			}})
		g := r.Generator(func(int) engine.Generator { return lacking{c.there} })
		name, answered := r.Model(), ""
		for range 2 { // the second time it is known
			req := &engine.Request{Model: name, Notify: func(engine.Event) {}}
			for chunk, err := range g.Generate(t.Context(), req) {
				var hint interface{ Hint() string }
				if errors.As(err, &hint) {
					answered = hint.Hint()
				} else if err == nil {
					answered = chunk.ModelVersion
				}
			}
		}
		if strings.HasPrefix(c.want, "gemini-") || c.want == "beta" { // the next prompt asks it at once
			c2 := &talk{model: name}
			notices(t, r.Run(c2, c2.run)(t.Context(), genai.NewPartFromText("x")))
			if !slices.Equal(c2.asked, []string{c.want}) {
				t.Errorf("%s: the next prompt asks %q", c.model, c2.asked)
			}
		}
		if c.there == nil && strings.HasPrefix(answered, "there is") || answered != c.want || asked != 1 {
			t.Errorf("%s, %s, %q: %s; the list was asked for %d times", c.model, c.action, c.there, answered, asked)
		}
	}
}

// A server that has none of the models, such as one at a wrong address, is asked for each once.
func TestAllMissing(t *testing.T) {
	for _, name := range []string{"gemini-3.8-flash", "gemini-4-argon", "gemini-3.5-flash-lite", "auto", "pro", "alpha"} {
		for _, there := range [][]string{nil, {"gemini-3.8-flash", "gemini-3.7-flash", "gemini-4-argon", "beta"}} {
			r := route.New(route.Config{Model: name, Presets: presets(t, preset.ByKey), Health: &route.Health{}, Action: route.Switch,
				List: func(context.Context) ([]string, error) { return there, nil }})
			asked := map[string]int{}
			g := r.Generator(func(int) engine.Generator { return nothing{asked} })
			var last error
			for _, err := range g.Generate(t.Context(), &engine.Request{Model: r.Model(), Notify: func(engine.Event) {}}) {
				last = err
			}
			for id, n := range asked {
				if n > 1 {
					t.Errorf("%s: %s was asked %d times", name, id, n)
				}
			}
			if e := (*model.Error)(nil); !errors.As(last, &e) || e.Kind != model.NotFound {
				t.Errorf("%s: %v", name, last)
			}
		}
	}
}

// nothing has no model, and counts who is asked for.
type nothing struct{ asked map[string]int }

func (g nothing) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

func (g nothing) Generate(_ context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		const most = 20 // ends the test where it would go on for ever
		if g.asked[req.Model]++; g.asked[req.Model] < most {
			yield(nil, gone404(req.Model))
		}
	}
}

// lacking has the models of a list, or of any but those that the tests begin with.
type lacking struct{ there []string }

func (g lacking) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

func (g lacking) Generate(_ context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		first := []string{"gemini-4-argon", "gemini-2.5-flash", "my-model", "alpha"}
		if g.there == nil && slices.Contains(first, req.Model) || g.there != nil && !slices.Contains(g.there, req.Model) || req.Model == "closed-to-us" {
			yield(nil, gone404(req.Model))
			return
		}
		yield(&genai.GenerateContentResponse{ModelVersion: req.Model}, nil)
	}
}

// Who answers without a score depends on who watches, and is said with the answer: where the
// prompt fails, not before its error.
func TestUnscored(t *testing.T) {
	for _, small := range []bool{false, true} {
		want := "gemini-4-argon answers: the router gave no score"
		if small {
			want = "gemini-3.8-flash answers: the router gave no score"
		}
		script := et.NewScript(et.Fails(&model.Error{Kind: model.BadRequest, Final: true, Message: "no"}), classifier(t, "score 95")[0])
		r := route.New(route.Config{Model: "auto", Presets: presets(t, preset.ByKey), Asker: &oneshot.Asker{Generator: script}, Small: small})
		c := &talk{}
		broken := func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
			return func(yield func(engine.Event, error) bool) {
				if yield(engine.RequestStarted{Model: c.model}, nil) {
					yield(nil, badKey)
				}
			}
		}
		var got []string
		for ev, err := range r.Run(c, broken)(t.Context(), genai.NewPartFromText("x")) {
			got = append(got, fmt.Sprintf("%T %v", ev, err))
		}
		if s := strings.Join(got, "; "); strings.Contains(s, "Notice") || !strings.HasSuffix(s, badKey.Message) {
			t.Errorf("a prompt that fails: %s", s)
		}
		if got := notices(t, r.Run(c, c.run)(t.Context(), genai.NewPartFromText("x"))); !slices.Equal(got, []string{want}) {
			t.Errorf("the next one is told %q, want %q", got, want)
		}
	}
}

// How much a model thinks is said in the way of each that answers, unless the request says it.
func TestThinking(t *testing.T) {
	r := route.New(route.Config{Model: "gemini-2.5-pro", Presets: presets(t, preset.ByKey), Action: route.Switch, Thinking: "high"})
	script := et.NewScript(et.Fails(noQuota), et.Says("."), et.Says("."), et.Says("."))
	g := r.Generator(func(int) engine.Generator { return script })
	own := &genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelLow}}
	for _, c := range []struct {
		think string
		with  *genai.GenerateContentConfig
	}{{"high", nil}, {"high", own}, {"", nil}} {
		r.Think(c.think)
		for _, err := range g.Generate(t.Context(), &engine.Request{Model: "gemini-2.5-pro", Config: c.with}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, req := range script.Requests() {
		s := req.Model
		if c := req.Config; c != nil && c.ThinkingConfig != nil {
			if s += " " + string(c.ThinkingConfig.ThinkingLevel); c.ThinkingConfig.ThinkingBudget != nil {
				s += fmt.Sprint(*c.ThinkingConfig.ThinkingBudget)
			}
		}
		got = append(got, s)
	}
	want := []string{"gemini-2.5-pro 24576", "gemini-3.8-flash HIGH", "gemini-2.5-pro LOW", "gemini-2.5-pro"}
	if !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}
