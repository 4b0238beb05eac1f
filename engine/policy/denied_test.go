package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// A command that can't be read is denied for the sake of a rule, but for one that
// denies programs only which no command can run.
func TestMasked(t *testing.T) {
	const allow, deny = engine.Allow, engine.Deny
	rule := func(more ...string) string {
		return "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n" + strings.Join(more, "\n") + "\n"
	}
	for _, test := range []struct {
		rules, masked string
		denied        string // programs
		want          engine.Verdict
	}{
		{rule(`commandPrefix = "rm"`), "rm", "rm", allow},
		{rule(`commandPrefix = "/bin/rm"`), "rm", "rm", allow},
		{rule(`commandPrefix = ["rm", "dd"]`), "rm dd", "rm dd", allow},
		{rule(`commandPrefix = ["rm", "dd"]`), "rm", "rm dd", deny},
		{rule(`commandPrefix = "rm"`) + rule(`commandPrefix = "dd"`), "rm", "rm dd", deny},
		{rule(`commandPrefix = ["rm", "git push"]`), "rm git", "rm", deny},
		{rule(`commandPrefix = "git push"`), "git", "", deny},
		{rule(`commandPrefix = "rm"`) + rule(`commandPrefix = "git push"`), "rm git", "rm", deny},
		{rule(`commandPrefix = ["rm", "rm -rf"]`), "rm", "rm", allow},
		{rule(`commandPrefix = "rm"`) + rule(`commandPrefix = "rm -rf"`), "rm", "rm", allow},
		{rule(`commandPrefix = "rm -rf"`), "rm", "", deny},
		{rule(`commandRegex = "rm"`), "rm", "", deny},
		{rule(`argsPattern = "rm"`), "rm", "", deny},
		{rule(`commandPrefix = "rm"`, `modes = ["yolo"]`), "rm", "rm", allow},
		{rule(`commandPrefix = "rm"`, `modes = ["default"]`), "", "", allow}, // it is not about this mode
		{rule(`commandPrefix = "rm"`, `interactive = true`), "rm", "rm", allow},
		{rule(`commandPrefix = "rm"`, `network = true`), "rm", "", allow}, // nor about this call
		{rule(`commandPrefix = "rm"`, `subagent = "x"`), "rm", "", allow},
		{"", "", "", allow},
	} {
		rules, _, err := policy.Parse("p.toml", policy.User, []byte(test.rules))
		if err != nil {
			t.Fatal(err)
		}
		p := policy.New(policy.Yolo, rules...)
		if got := strings.Join(policy.DeniedPrograms(p.Denied()), " "); got != test.denied {
			t.Errorf("%s: %q are denied as a whole, want %q", test.rules, got, test.denied)
		}
		q := shell(engine.Opaque, "$x")
		if got, _ := p.Judge(t.Context(), q); test.denied != "" && got != deny {
			t.Errorf("%s: unmasked it is %v", test.rules, got)
		}
		p.Masked = func(programs []string) bool {
			return !slices.ContainsFunc(programs, func(name string) bool { return !slices.Contains(strings.Fields(test.masked), name) })
		}
		for _, p := range []*policy.Policy{p, p.WithUnattended(false)} {
			if got, why := p.Judge(t.Context(), q); got != test.want {
				t.Errorf("%s: %v (%s), want %v", test.rules, got, why.Text, test.want)
			}
		}
		if strings.HasPrefix(test.denied, "rm") {
			if got, _ := p.Judge(t.Context(), shell(engine.Plain, "ls | rm x")); got != deny {
				t.Errorf("%s: rm x is %v", test.rules, got)
			}
		}
	}
	// A call that a rule about some calls only denies is not let go by another's mask.
	rules, _, err := policy.Parse("p.toml", policy.User, []byte(rule(`commandPrefix = "rm"`, `subagent = "x"`)))
	if err != nil {
		t.Fatal(err)
	}
	p := policy.New(policy.Yolo, rules...)
	p.Masked = func([]string) bool { return true }
	q := shell(engine.Opaque, "$x")
	q.Agent = "x"
	if got, _ := p.Judge(t.Context(), q); got != deny {
		t.Errorf("by the agent that a rule is about: %v", got)
	}
}

// The rule that a program is denied by is the strongest, and is named.
func TestDenied(t *testing.T) {
	var all []policy.Rule
	for i, tier := range []policy.Tier{policy.Project, policy.Admin, policy.User} {
		rules, _, err := policy.Parse(fmt.Sprintf("%d.toml", i), tier, []byte("[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 9\n"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rules...)
	}
	denied := policy.New(policy.Default, all...).Denied()
	if len(denied) != 1 || denied[0].Reason() != `The rule at 1.toml:1 (admin tier) denies "rm"; only the user can change it.` {
		t.Errorf("%+v", denied)
	}
}
