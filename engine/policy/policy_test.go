package policy_test

import (
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/policy"
)

func tool(k engine.Kind) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "tool"}, Kind: k}
}

func TestModes(t *testing.T) {
	const ask, allow, deny = engine.Ask, engine.Allow, engine.Deny
	for _, test := range []struct {
		kind                     engine.Kind
		plan, normal, edit, yolo engine.Verdict
		offeredInPlan            bool
	}{
		{engine.Read, allow, allow, allow, allow, true},
		{engine.Search, allow, allow, allow, allow, true},
		{engine.Think, allow, allow, allow, allow, true},
		{engine.AskUser, allow, allow, allow, allow, true},
		{engine.Fetch, deny, ask, allow, allow, false},
		{engine.Edit, deny, ask, allow, allow, false},
		{engine.Execute, deny, ask, ask, allow, false},
		{engine.Other, deny, ask, ask, allow, false},
		{engine.Kind(99), deny, ask, ask, allow, false},
	} {
		for mode, want := range map[policy.Mode]engine.Verdict{
			policy.Plan: test.plan, policy.Default: test.normal, policy.AutoEdit: test.edit, policy.Yolo: test.yolo,
			"": test.normal, "nonsense": test.normal,
		} {
			got, reason := policy.New(mode).Judge(t.Context(), engine.Proposal{Tool: tool(test.kind)})
			if got != want {
				t.Errorf("kind %d in mode %q: got %d; want %d", test.kind, mode, got, want)
			}
			if got == deny && reason.Text == "" {
				t.Errorf("kind %d in mode %q: denied without a reason", test.kind, mode)
			}
		}
		if got := policy.New(policy.Plan).Offers(tool(test.kind)); got != test.offeredInPlan {
			t.Errorf("kind %d offered in plan mode: %v", test.kind, got)
		}
		if !policy.New(policy.Default).Offers(tool(test.kind)) {
			t.Errorf("kind %d not offered in default mode", test.kind)
		}
	}
}

// In plan mode files are edited that are plans, and no others beside them, as far as no
// rule is against it and the file is none that is guarded.
func TestPlanFiles(t *testing.T) {
	const denyAll, allowAll = "[[rule]]\ntoolName = \"tool\"\ndecision = \"deny\"\npriority = 1\n", "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 999\n"
	for _, c := range []struct {
		mode  policy.Mode
		kind  engine.Kind
		rule  string
		paths string
		want  engine.Verdict
	}{
		{policy.Plan, engine.Edit, "", "/plans/x.md", engine.Allow},
		{policy.Plan, engine.Edit, "", "/plans/x.md /elsewhere", engine.Deny}, // where a link leads
		{policy.Plan, engine.Edit, allowAll, "/elsewhere", engine.Deny},
		{policy.Plan, engine.Edit, allowAll, "", engine.Deny},
		{policy.Plan, engine.Edit, denyAll, "/plans/x.md", engine.Deny},
		{policy.Plan, engine.Edit, "", "/plans/GEMINI.md", engine.Ask},
		{policy.Plan, engine.Edit, "", "/plans/own/x.md", engine.Allow}, // by its own name only
		{policy.AutoEdit, engine.Edit, "", "/plans/own/x.md", engine.Ask},
		{policy.AutoEdit, engine.Edit, "", "/plans/x.md", engine.Allow},
		{policy.Plan, engine.Execute, allowAll, "/plans/x.md", engine.Deny},
		{policy.Plan, engine.Other, allowAll, "/plans/x.md", engine.Deny},
		{policy.Default, engine.Edit, "", "/plans/x.md", engine.Ask},
	} {
		var rules []policy.Rule
		if c.rule != "" {
			rules = parse(t, policy.User, c.rule)
		}
		p := policy.New(c.mode, rules...)
		p.Plans = func(path string) bool { return strings.HasPrefix(path, "/plans/") }
		guarded, _ := policy.Guard(p, nil, policy.GuardedFiles{Own: []string{"/plans/own"}})
		q := engine.Proposal{Tool: tool(c.kind), Intent: engine.Intent{Paths: strings.Fields(c.paths)}}
		if got, _ := guarded.Judge(t.Context(), q); got != c.want {
			t.Errorf("kind %d of %q in mode %s below %q: %d, want %d", c.kind, c.paths, c.mode, c.rule, got, c.want)
		}
		if offered := p.Offers(q.Tool); c.kind == engine.Edit && offered == (c.rule == denyAll) {
			t.Errorf("offered below %q: %v", c.rule, offered)
		}
	}
}

// The mode from which plan mode was entered is remembered, and nothing else is.
func TestBefore(t *testing.T) {
	p := policy.New(policy.Plan)
	for _, c := range []struct{ set, want policy.Mode }{{policy.Plan, ""}, {policy.AutoEdit, ""}, {policy.Plan, policy.AutoEdit}, {policy.Plan, policy.AutoEdit}, {policy.Yolo, policy.AutoEdit}, {policy.Plan, policy.Yolo}} {
		if p.SetMode(c.set); p.PreviousMode() != c.want || p.WithUnattended(true).PreviousMode() != c.want {
			t.Errorf("after %s: %q, want %q", c.set, p.PreviousMode(), c.want)
		}
	}
}

// Without a user, a tool that asks one is not offered, and a call of it is
// told so, in every mode.
func TestUnattended(t *testing.T) {
	for _, mode := range policy.Modes {
		p := policy.New(mode)
		p.Unattended = true
		asks := tool(engine.AskUser)
		if p.Offers(asks) {
			t.Errorf("offered in mode %s", mode)
		}
		if v, reason := p.Judge(t.Context(), engine.Proposal{Tool: asks}); v != engine.Deny || !strings.Contains(reason.Text, "session") {
			t.Errorf("in mode %s: %d, %q", mode, v, reason.Text)
		}
		if v, _ := p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Read)}); v != engine.Allow {
			t.Errorf("in mode %s a read is judged %d", mode, v)
		}
	}
}

func TestAlwaysCoversWhatWasSaidAndNoMore(t *testing.T) {
	p := policy.New(policy.Default)
	proposal := func(tool engine.Tool, target string) engine.Proposal {
		return engine.Proposal{Tool: tool, Intent: engine.Intent{Grants: []engine.Grant{
			{Label: "whatever", Tool: "run_shell_command", Target: target}}}}
	}
	run := tool(engine.Execute)
	if err := p.Learn(engine.Grant{Label: "this command", Tool: "run_shell_command", Target: "go test"}, engine.Session); err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(engine.Grant{}, engine.Session); err != nil {
		t.Fatal(err)
	}
	if err := p.Learn(engine.Grant{Tool: "run_shell_command", Target: "ls"}, engine.Once); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]engine.Verdict{
		"go test": engine.Allow, "go test; rm -rf .": engine.Ask, "": engine.Ask, "ls": engine.Ask,
	} {
		if got, _ := p.Judge(t.Context(), proposal(run, target)); got != want {
			t.Errorf("%q: got %d; want %d", target, got, want)
		}
	}
	if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: run}); got != engine.Ask {
		t.Error("a call without grants is allowed")
	}
	p.SetMode(policy.Plan)
	if got, _ := p.Judge(t.Context(), proposal(run, "go test")); got != engine.Deny {
		t.Error("a grant reaches into plan mode")
	}
}

// Sub-agents judge on their own goroutines; the race detector is the judge.
func TestAgentsShareAPolicy(t *testing.T) {
	p := policy.New(policy.Default)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				p.Judge(t.Context(), engine.Proposal{Tool: tool(engine.Edit)})
				p.Learn(engine.Grant{Tool: "t", Target: string(rune('a' + i%26))}, engine.Session)
				p.SetMode(policy.Modes[i%len(policy.Modes)])
				p.Offers(tool(engine.Execute))
			}
		})
	}
	wg.Wait()
}
