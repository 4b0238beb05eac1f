package check_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/check"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// kinds are those of the tools of a conversation.
var kinds = map[string]engine.Kind{"read": engine.Read, "edit": engine.Edit, "run": engine.Execute, "look": engine.Execute, "other": engine.Other, "broken": engine.Edit}

// converse returns an engine with a tool of each kind.
func converse(t *testing.T, replies ...et.Reply) (*engine.Engine, *et.Script) {
	script := et.NewScript(replies...)
	var tools engine.Tools
	for name, kind := range kinds {
		tools = append(tools, engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: kind,
			Prepare: func(context.Context, map[string]any) (engine.Call, error) {
				return engine.Call{Intent: engine.Intent{Plan: engine.Plan{IsReadOnly: name == "look"}}, Run: func(context.Context, engine.Host) (engine.Result, error) {
					time.Sleep(time.Nanosecond) // so that it took some time
					if name == "broken" {
						return engine.Result{}, errors.New("no such text")
					}
					return engine.Result{Text: "ok"}, nil
				}}, nil
			}})
	}
	return engine.New(engine.Config{Model: "m", Generator: script, Tools: tools, Policy: allow{policy.New(policy.Default)}}), script
}

type allow struct{ *policy.Policy }

func (allow) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}

func calls(name string) et.Reply { return et.Says("", et.Call("", name)) }

// red and green are the outcomes of checks, in order.
func config(mends int, greens ...bool) check.Config {
	return check.Config{Command: "make test", MaxRepairs: mends, Kind: func(name string) engine.Kind { return kinds[name] },
		Run: func(ctx context.Context) (engine.Result, int, error) {
			green := greens[0]
			greens = greens[1:]
			if green {
				return engine.Result{Text: "fine", Display: "fine"}, 0, nil
			}
			return engine.Result{Text: "2 tests failed"}, 2, &engine.CallError{Message: "2 tests failed", Display: "failed exit 2"}
		}}
}

func TestCheck(t *testing.T) {
	done := et.Says("Done.")
	const red1, red2, green1, green2 = "1: 2, failed exit 2", "2: 2, failed exit 2", "1: 0, ok", "2: 0, ok"
	tests := []struct {
		name    string
		config  check.Config
		replies []et.Reply
		checked []string
		err     string
	}{
		{"nothing is done", config(3), []et.Reply{done}, nil, ""},
		{"it reads", config(3), []et.Reply{calls("read"), done}, nil, ""},
		{"it only looks", config(3), []et.Reply{calls("look"), done}, nil, ""},
		{"an edit that fails", config(3), []et.Reply{calls("broken"), done}, nil, ""},
		{"an edit", config(3, true), []et.Reply{calls("edit"), done}, []string{green1}, ""},
		{"a command", config(3, true), []et.Reply{calls("run"), done}, []string{green1}, ""},
		{"who knows", config(3, true), []et.Reply{calls("other"), done}, []string{green1}, ""},
		{"mended", config(3, false, true), []et.Reply{calls("edit"), done, calls("edit"), done}, []string{red1, green2}, ""},
		{"not mended", config(1, false, false), []et.Reply{calls("edit"), done, calls("edit"), done}, []string{red1, red2}, "the check is red: make test: exit 2"},
		{"given up", config(3, false), []et.Reply{calls("edit"), done, et.Says("I can't.")}, []string{red1}, "the check is red: make test: exit 2"},
		{"no mending", config(0, false), []et.Reply{calls("edit"), done}, []string{red1}, "the check is red: make test: exit 2"},
		{"no answer", config(3), []et.Reply{calls("edit"), et.Fails(errors.New("broken"))}, nil, "broken"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, script := converse(t, test.replies...)
			r := et.Record(test.config.Wrap(e.Run)(t.Context(), genai.NewPartFromText("go")))
			var checked []string
			for line := range strings.Lines(r.String()) {
				if what, ok := strings.CutPrefix(line, "checked make test, round "); ok {
					checked = append(checked, strings.TrimSpace(what))
				}
			}
			if diff := cmp.Diff(test.checked, checked); diff != "" {
				t.Errorf("%s\n%s", diff, r)
			}
			if test.err == "" && len(r.Errs) > 0 || test.err != "" && (len(r.Errs) != 1 || r.Errs[0].Error() != test.err) {
				t.Errorf("ended with %q, not %q", r.Errs, test.err)
			}
			if script.Left() > 0 {
				t.Errorf("%d replies are left", script.Left())
			}
			et.CheckHistory(t, e.History())
		})
	}
}

// A check that is stopped is no outcome, and whoever leaves is followed.
func TestStopped(t *testing.T) {
	e, _ := converse(t, calls("edit"), et.Says("Done."))
	ctx, cancel := context.WithCancel(t.Context())
	c := config(3)
	c.Run = func(ctx context.Context) (engine.Result, int, error) {
		cancel()
		return engine.Result{Text: "half"}, 0, context.Canceled
	}
	r := et.Record(c.Wrap(e.Run)(ctx, genai.NewPartFromText("go")))
	if len(r.Errs) != 1 || !errors.Is(r.Errs[0], context.Canceled) || strings.Contains(r.String(), "checked") {
		t.Errorf("%v\n%s", r.Errs, r)
	}
	for at := range 24 {
		e, _ := converse(t, calls("edit"), et.Says("Done."), calls("edit"), et.Says("Done."))
		n := 0
		for range config(3, false, true).Wrap(e.Run)(t.Context(), genai.NewPartFromText("go")) {
			if n++; n > at {
				break
			}
		}
		et.CheckHistory(t, e.History())
	}
}
