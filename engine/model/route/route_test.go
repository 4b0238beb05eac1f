package route_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
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

// presets has an alias and a chain of the user's.
func presets(t testing.TB, access preset.Access) *preset.Table {
	t.Helper()
	table, err := preset.New(access, map[string]any{
		"customAliases": map[string]any{"calm": map[string]any{"extends": "gemini-2.5-pro"}},
		"modelChains": map[string]any{"mine": []any{
			map[string]any{"model": "alpha", "maxAttempts": 2,
				"actions":          map[string]any{"terminal": "silent", "unknown": "silent"},
				"stateTransitions": map[string]any{"terminal": "sticky_retry"}},
			map[string]any{"model": "beta", "isLastResort": true}}}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// classifier returns the replies of a classifier.
func classifier(t testing.TB, says string) []et.Reply {
	t.Helper()
	kind, value, _ := strings.Cut(says, " ")
	switch kind {
	case "":
		return nil
	case "score", "choice":
		answer := fmt.Sprintf(`{"complexity_reasoning":"so it is","complexity_score":%s}`, value)
		if kind == "choice" {
			answer = fmt.Sprintf(`{"reasoning":"so it is","model_choice":%q}`, value)
		}
		return []et.Reply{et.Says(answer), {Stall: true}}
	case "says":
		return []et.Reply{et.Says(value), {Stall: true}}
	case "nothing":
		return []et.Reply{et.Fails(errors.New("no more mock responses"))}
	case "silence":
		return []et.Reply{{Stall: true}}
	case "refusal":
		return []et.Reply{et.Fails(&model.Error{Kind: model.Quota, Final: true, Message: "no quota"})}
	}
	t.Fatalf("what is %q?", says)
	return nil
}

// A talk is a conversation in which each prompt is answered at once.
type talk struct {
	model   string
	history []*genai.Content
	asked   []string
}

func (c *talk) Model() string             { return c.model }
func (c *talk) SetModel(name string)      { c.model = name }
func (c *talk) History() []*genai.Content { return c.history }
func (c *talk) run(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		c.asked = append(c.asked, c.model)
		if yield(engine.RequestStarted{Model: c.model}, nil) {
			yield(engine.AnswerFinished{}, nil)
		}
	}
}

// notices returns what a Run tells, and its other events as types.
func notices(t testing.TB, run iter.Seq2[engine.Event, error]) (told []string) {
	t.Helper()
	for ev, err := range run {
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := ev.(engine.Notice); ok {
			told = append(told, n.Text)
		}
	}
	return told
}

// Each line of the table is a prompt in a conversation of its own. It is decided within
// the bound of the classifier.
func TestRouting(t *testing.T) {
	data, err := os.ReadFile("testdata/routing.txt")
	if err != nil {
		t.Fatal(err)
	}
	access := map[string]preset.Access{"key": preset.ByKey, "account": preset.ByAccount, "assist": preset.ByAssist}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		var f [7]string
		for j, cell := range strings.SplitN(line, "|", len(f)) {
			f[j] = strings.TrimSpace(cell)
		}
		t.Run(fmt.Sprintf("line %d", i+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				health := &route.Health{}
				for name := range strings.FieldsSeq(f[2]) {
					fail(t, health, access[f[1]], name)
				}
				script := et.NewScript(classifier(t, f[4])...)
				r := route.New(route.Config{Model: f[0], Presets: presets(t, access[f[1]]), Health: health,
					Asker: &oneshot.Asker{Generator: script}, Approver: et.NewApprover(t),
					Mode: func() route.Mode {
						return route.Mode{Planning: strings.Contains(f[3], "planning"), Planned: strings.Contains(f[3], "planned")}
					},
					Action: route.Switch})
				c, start := &talk{}, time.Now()
				told := notices(t, r.Run(c, c.run)(t.Context(), genai.NewPartFromText("Do it.")))
				if c.model != f[5] || strings.Join(told, "\n") != f[6] {
					t.Errorf("%s answers, told %q", c.model, told)
				}
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("it took %s", took)
				}
				if n := len(script.Requests()); n > 1 && f[4] != "silence" && f[4] != "refusal" {
					t.Errorf("the classifier was asked %d times", n)
				}
				if want := f[4] != ""; (len(script.Requests()) > 0) != want && !strings.Contains(f[2], "pro") {
					t.Errorf("the classifier was asked %d times", len(script.Requests()))
				}
			})
		})
	}
}

// fail has a model known for having no quota left.
func fail(t testing.TB, h *route.Health, a preset.Access, name string) {
	t.Helper()
	r := route.New(route.Config{Model: name, Presets: presets(t, a), Health: h, Action: route.Switch})
	script := et.NewScript(et.Fails(&model.Error{Kind: model.Quota, Final: true, Message: "none"}), et.Says("."))
	for range r.Generator(func(int) engine.Generator { return script }).Generate(t.Context(), &engine.Request{Model: name}) {
	}
}
