package policy_test

import (
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// looking returns a call of the shell of which the commands in safe are known
// to change nothing.
func looking(confined bool, class engine.Class, commands string, safe ...string) engine.Proposal {
	q := shell(class, commands)
	q.Intent.Plan.Confined = confined
	for i := range q.Intent.Plan.Commands {
		c := &q.Intent.Plan.Commands[i]
		c.Risk = "not on the list"
		for _, s := range safe {
			if c.String() == s {
				c.Safe, c.Risk = true, ""
			}
		}
	}
	return q
}

// held returns a call that is held to looking.
func held(q engine.Proposal) engine.Proposal {
	q.Intent.Plan.IsReadOnly = true
	return q
}

// Commands that are safe run unasked while something confines them, unless a
// rule of anybody's says otherwise; in plan mode, too, and there no others.
func TestSafe(t *testing.T) {
	const ask, allow, deny = engine.Ask, engine.Allow, engine.Deny
	const asks = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"ask_user\"\npriority = 1\n"
	const denies = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"ls\"\ndecision = \"deny\"\npriority = 1\n"
	const allowsMake = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"allow\"\npriority = 1\n"
	const asksSafe = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandSafe = true\ndecision = \"ask_user\"\npriority = 1\n"
	for _, test := range []struct {
		what         string
		q            engine.Proposal
		tier         policy.Tier
		rules        string
		normal, plan engine.Verdict
	}{
		{"all safe", looking(true, engine.Plain, "ls|cat x", "ls", "cat x"), policy.User, "", allow, allow},
		{"one not", looking(true, engine.Plain, "ls|make", "ls"), policy.User, "", ask, deny},
		{"not confined", looking(false, engine.Plain, "ls", "ls"), policy.User, "", ask, deny},
		{"not plain", looking(true, engine.Readable, "ls", "ls"), policy.User, "", ask, deny},
		{"not plain, and held to looking", held(looking(true, engine.Readable, "ls", "ls")), policy.User, "", allow, allow},
		{"not plain, and one not", held(looking(true, engine.Readable, "ls|make", "ls")), policy.User, "", ask, deny},
		{"opaque", looking(true, engine.Opaque, "ls", "ls"), policy.User, "", ask, deny},
		{"no commands", looking(true, engine.Plain, ""), policy.User, "", ask, deny},
		{"the user asks", looking(true, engine.Plain, "ls", "ls"), policy.User, asks, ask, ask},
		{"a project asks", looking(true, engine.Plain, "ls", "ls"), policy.Project, asks, ask, ask},
		{"the user denies", looking(true, engine.Plain, "ls", "ls"), policy.User, denies, deny, deny},
		{"a project denies", looking(true, engine.Plain, "ls", "ls"), policy.Project, denies, deny, deny},
		{"the user asks about the list", looking(true, engine.Plain, "ls", "ls"), policy.User, asksSafe, ask, ask},
		{"the rest is allowed", looking(true, engine.Plain, "ls|make", "ls"), policy.User, allowsMake, allow, deny},
	} {
		for mode, want := range map[policy.Mode]engine.Verdict{policy.Default: test.normal, policy.AutoEdit: test.normal, policy.Plan: test.plan} {
			p := policy.New(mode, parse(t, test.tier, test.rules)...)
			if got, reason := p.Judge(t.Context(), test.q); got != want {
				t.Errorf("%s, in mode %s: %d (%s); want %d", test.what, mode, got, reason.Text, want)
			}
		}
	}
	e := policy.New(policy.Default).Explain(looking(true, engine.Plain, "ls|cat x", "ls", "cat x"))
	if e.Rule == nil || !strings.Contains(e.Why, "every command is read-only") {
		t.Errorf("%+v", e)
	}
	undoable := shell(engine.Plain, "make")
	undoable.Intent.Plan.Revertible = true
	for _, q := range []engine.Proposal{shell(engine.Plain, "make"), undoable} {
		if e := policy.New(policy.Auto).Explain(q); e.Commands[0].Why != "" {
			t.Errorf("of what is not known to look is said %q", e.Commands[0].Why)
		}
	}
	unread := shell(engine.Opaque, "make")
	unread.Intent.Plan.Revertible = true
	asksPush := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git push\"\ndecision = \"ask_user\"\npriority = 1\n"
	for rules, want := range map[string]engine.Verdict{"": allow, asksPush: ask} {
		if e := policy.New(policy.Auto, parse(t, policy.User, rules)...).Explain(unread); e.Verdict != want || (want == ask) != strings.Contains(e.Why, "a rule that asks about commands") {
			t.Errorf("of what can be taken back and not be read: %s, %s; rules: %s", policy.VerdictName(e.Verdict), e.Why, rules)
		}
	}
	for _, test := range []struct {
		q   engine.Proposal
		why string
	}{
		{looking(true, engine.Plain, "ls|make", "ls"), "not known to only look (not on the list)"},
		{looking(false, engine.Plain, "ls", "ls"), "nothing confines it"},
	} {
		if e := policy.New(policy.Default).Explain(test.q); !strings.Contains(e.Why, test.why) {
			t.Errorf("%q; want %q", e.Why, test.why)
		}
	}
}
