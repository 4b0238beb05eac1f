package policy_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

const (
	allow = engine.Allow
	ask   = engine.Ask
	deny  = engine.Deny
)

// wanting returns a call of the shell that asks for more than all have.
func wanting(script string, r engine.Rights) engine.Proposal {
	q := shell(engine.Plain, script)
	q.Intent.Plan.Rights = r
	q.Intent.Grants = []engine.Grant{{Label: "always this command, with " + r.String(), Tool: policy.Shell, Target: "/dir\x00" + script + "\x00" + r.String()}}
	return q
}

// Nothing that allows a command gives it rights that it does not name, yolo
// included.
func TestRightsAreNamed(t *testing.T) {
	const npm = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"npm\"\ndecision = \"allow\"\npriority = 1\n"
	const all = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 1\n"
	const offline = "[[rule]]\ntoolName = \"run_shell_command\"\nnetwork = true\ndecision = \"deny\"\npriority = 1\n"
	const online = npm + "network = true\n"
	net, write, read := engine.Rights{Network: true}, engine.Rights{Write: []string{"/x"}}, engine.Rights{Read: []string{"/x"}}
	both := engine.Rights{Network: true, Write: []string{"/x"}}
	for _, c := range []struct {
		rules  string
		mode   policy.Mode
		script string
		rights engine.Rights
		want   engine.Verdict
	}{
		{npm, "", "npm ci", engine.Rights{}, allow},
		{npm, "", "npm ci", net, ask},
		{npm, "", "npm ci", write, ask},
		{npm, "", "npm ci", read, ask},
		{all, "", "npm ci", net, ask},
		{online, "", "npm ci", engine.Rights{}, allow},
		{online, "", "npm ci", net, allow},
		{online, "", "npm ci", both, ask},
		{online, "", "npm ci | curl x", net, ask},
		{"", policy.Yolo, "npm ci", engine.Rights{}, allow},
		{"", policy.Yolo, "npm ci", net, allow},
		{"", policy.Yolo, "npm ci", write, allow},
		{"", policy.Yolo, "npm ci", both, allow},
		{"", policy.Yolo, "npm ci", read, ask},
		{"", policy.Yolo, "npm ci", engine.Rights{Protected: true}, ask},
		{online, policy.Yolo, "npm ci", net, allow},
		{online, policy.Plan, "npm ci", net, deny},
		{offline, policy.Yolo, "npm ci", engine.Rights{}, allow},
		{offline, policy.Yolo, "npm ci", net, deny},
		{offline + online, "", "npm ci", net, deny},
		{offline, "", "npm ci", write, ask},
	} {
		p := policy.New(c.mode, parse(t, policy.User, c.rules)...)
		if e := p.Explain(wanting(c.script, c.rights)); e.Verdict != c.want {
			t.Errorf("%s with %s in mode %q: %s, want %s; rules:\n%s", c.script, c.rights, c.mode, policy.VerdictName(e.Verdict), policy.VerdictName(c.want), c.rules)
		}
		if !p.Offers(named(policy.Shell, engine.Execute)) && c.mode != policy.Plan {
			t.Errorf("the shell is not offered with the rules:\n%s", c.rules)
		}
	}
}

// "Always" to a call with a right is kept as a rule that names it. Rights on
// files are given for the session at most.
func TestRightsAreKept(t *testing.T) {
	grants := offered(t, wanting("npm ci", engine.Rights{Network: true}), false)
	if len(grants) != 2 || grants[1].Label != `always "npm ci ...", with the network` {
		t.Fatalf("%+v", grants)
	}
	for _, g := range grants {
		p := policy.New(policy.Default, parse(t, policy.User, g.Rule)...)
		if v, _ := p.Judge(t.Context(), wanting("npm ci", engine.Rights{Network: true})); v != allow || !strings.Contains(g.Rule, "\nnetwork = true\n") {
			t.Errorf("%s: %s", g.Rule, policy.VerdictName(v))
		}
	}
	q := wanting("make install", engine.Rights{Network: true, Write: []string{"/opt"}})
	if grants := offered(t, q, false); len(grants) != 1 || grants[0].Rule != "" {
		t.Errorf("%+v", grants)
	}
	p := policy.New(policy.Default)
	p.Learn(q.Intent.Grants[0], engine.Session)
	if v, _ := p.Judge(t.Context(), q); v != allow {
		t.Error("what was granted for the session is asked about")
	}
	q.Intent.Plan.Rights.Write = []string{"/opt", "/usr"}
	q.Intent.Grants[0].Target += ", writing to /usr"
	if v, _ := p.Judge(t.Context(), q); v != ask {
		t.Error("more than was granted is not asked about")
	}
}

// What a running call asks for is judged like all else before anybody is asked,
// and learned.
func TestAskedAgain(t *testing.T) {
	const deny = "[[rule]]\ntoolName = \"run_shell_command\"\nnetwork = true\ndecision = \"deny\"\npriority = 1\n"
	own := filepath.Join(t.TempDir(), ".gemini")
	q := wanting("npm ci", engine.Rights{Network: true})
	q.Intent.Plan.Failure.Reason = "the network"
	approve := func(p *policy.Policy, q engine.Proposal, answers ...engine.Answer) (engine.Answer, *et.Approver) {
		t.Helper()
		user := et.NewApprover(t, answers...)
		_, a := policy.Guard(p, p.OfferRules(user, false), policy.GuardedFiles{Own: []string{own}})
		answer, err := a.Approve(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return answer, user
	}
	answer, user := approve(policy.New(policy.Yolo, parse(t, policy.User, deny)...), q)
	if nobody, ok := answer.(engine.Unasked); !ok || !strings.Contains(nobody.Advice, "p.toml:1") || len(user.Proposals()) > 0 {
		t.Errorf("denied: %+v", answer)
	}
	p := policy.New(policy.Default)
	rule := offered(t, q, false)[1]
	for _, answer := range []engine.Answer{engine.Refused{}, engine.Allowed{Grant: rule}} {
		approve(p, q, answer)
		if v, _ := p.Judge(t.Context(), q); v != ask {
			t.Errorf("learned from %+v", answer)
		}
	}
	approve(p, q, engine.Allowed{Scope: engine.Session, Grant: rule})
	if answer, user := approve(p, q); answer != engine.Answer(engine.Allowed{}) || len(user.Proposals()) > 0 {
		t.Errorf("asked about again: %+v", answer)
	}
	for _, path := range []string{own, filepath.Dir(own), filepath.Join(own, "policies"), ""} {
		q := wanting("x", engine.Rights{Write: []string{path}})
		if path == "" {
			q = wanting("x", engine.Rights{Protected: true})
		}
		p.Learn(q.Intent.Grants[0], engine.Session)
		g, _ := policy.Guard(p, nil, policy.GuardedFiles{Own: []string{own}})
		if v, _ := g.Judge(t.Context(), q); v != ask {
			t.Errorf("writing to %s: %s", path, policy.VerdictName(v))
		}
	}
}

// Who keeps the network from commands keeps it from each; who wants to be asked is asked
// about those that want it, unless a rule allows them.
func TestNetwork(t *testing.T) {
	online, offline := wanting("x", engine.Rights{Network: true}), shell(engine.Plain, "x")
	for _, c := range []struct {
		never           string
		asked           bool
		online, offline engine.Verdict
	}{{"", false, allow, allow}, {"--offline", false, deny, allow}, {"", true, ask, allow}, {"--offline", true, deny, allow}} {
		p := policy.New(policy.Yolo, policy.Network(c.never, c.asked)...)
		got, why := p.Judge(t.Context(), online)
		if got != c.online || strings.Contains(why.Text, "--offline") != (got == deny) {
			t.Errorf("%q, %t: %v %v", c.never, c.asked, got, why)
		}
		if got, _ := p.Judge(t.Context(), offline); got != c.offline {
			t.Errorf("%q, %t, without the network: %v", c.never, c.asked, got)
		}
	}
}
