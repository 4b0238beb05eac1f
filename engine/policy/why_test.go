package policy_test

import (
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// What `gemline policy test` says of each command, and of the call as a whole:
// what being on the list of safe commands has to do with it, or nothing where
// that decides nothing.
func TestWhy(t *testing.T) {
	const (
		is      = "it is read-only, and is confined to reading"
		loose   = "it is read-only, but nothing confines it"
		isnt    = "it is not known to only look (not on the list)"
		all     = "every command is read-only, and is confined to reading"
		allowed = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"allow\"\npriority = 1\n"
		asked   = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"ask_user\"\npriority = 1\n"
		reads   = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"cat\"\ndecision = \"allow\"\npriority = 1\n"
		denied  = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 1\n"
	)
	silent := looking(true, engine.Plain, "make")
	silent.Intent.Plan.Commands[0].Risk = ""
	odd := looking(true, engine.Plain, "make")
	odd.Intent.Plan.Commands[0].Risk = "a\x1b[8mb"
	two := looking(true, engine.Plain, "make|cc")
	two.Intent.Plan.Commands[1].Risk = "another"
	online := looking(true, engine.Plain, "ls", "ls")
	online.Intent.Plan.Rights.Network = true
	none := looking(true, engine.Plain, "")
	none.Intent.Plan.Commands = nil
	for _, c := range []struct {
		name     string
		q        engine.Proposal
		mode     policy.Mode
		rules    string
		want     engine.Verdict
		call     string
		commands []string
	}{
		{"safe", looking(true, engine.Plain, "ls|cat x", "ls", "cat x"), "", "", allow, all, []string{is, is}},
		{"safe, in plan mode", looking(true, engine.Plain, "ls", "ls"), policy.Plan, "", allow, all, []string{is}},
		{"one is not", looking(true, engine.Plain, "ls|make", "ls"), "", "", ask, isnt, []string{is, isnt}},
		{"the first is not", looking(true, engine.Plain, "make|ls", "ls"), "", "", ask, isnt, []string{isnt, is}},
		{"not confined", looking(false, engine.Plain, "ls", "ls"), "", "", ask, loose, []string{loose}},
		{"neither, of which one is not safe", looking(false, engine.Plain, "ls|make|ls", "ls"), "", "", ask, isnt, []string{loose, isnt, loose}},
		{"nobody knows why not", silent, "", "", ask, "", []string{""}},
		{"what is odd about it is shown", odd, "", "", ask, "it is not known to only look (a\uFFFD[8mb)", []string{"it is not known to only look (a\uFFFD[8mb)"}},
		{"a list that is not plain", looking(true, engine.Readable, "ls|make", "ls"), "", "", ask, isnt, []string{"", isnt}},
		{"in yolo mode", looking(true, engine.Plain, "ls|make", "ls"), policy.Yolo, "", allow, "", []string{"", ""}},
		{"the user allows the other", looking(true, engine.Plain, "ls|make", "ls"), "", allowed, allow, "", []string{is, ""}},
		{"the user allows the first", looking(true, engine.Plain, "make|ls", "ls"), "", allowed, allow, "", []string{"", is}},
		{"the user allows the other, and nothing confines the first", looking(false, engine.Plain, "ls|make", "ls"), "", allowed, ask, loose, []string{loose, ""}},
		{"the user allows one that is safe as it is", looking(true, engine.Plain, "ls|cat x", "ls", "cat x"), "", reads, allow, "", []string{is, ""}},
		{"neither is, and the first is told", two, "", "", ask, isnt, []string{isnt, "it is not known to only look (another)"}},
		{"safe, and wants the network", online, "", "", ask, "", []string{""}},
		{"the user asks", looking(true, engine.Plain, "ls", "ls"), "", asked, ask, "", []string{""}},
		{"the user denies the first", looking(true, engine.Plain, "rm|ls", "ls"), "", denied, deny, "", []string{"", is}},
		{"no commands", none, "", "", ask, "", nil},
		{"no commands, in plan mode", none, policy.Plan, "", deny, "", nil},
	} {
		mode := c.mode
		if mode == "" {
			mode = policy.Default
		}
		e := policy.New(mode, parse(t, policy.User, c.rules)...).Explain(c.q)
		var commands []string
		for _, f := range e.Commands {
			commands = append(commands, f.Why)
		}
		if e.Verdict != c.want || e.Why != c.call || !slices.Equal(commands, c.commands) {
			t.Errorf("%s: %s, %q, of the commands %q; want %s, %q, %q", c.name, policy.VerdictName(e.Verdict), e.Why, commands, policy.VerdictName(c.want), c.call, c.commands)
		}
	}
}

// A command line of which nobody can tell what it runs is denied where tools.core
// names some commands, and asked about where it names the whole shell.
func TestCoreHides(t *testing.T) {
	for core, want := range map[string]engine.Verdict{
		"run_shell_command":            ask,
		"run_shell_command(git)":       deny,
		"glob, run_shell_command(git)": deny,
		"glob, run_shell_command":      ask,
		"glob":                         deny,
	} {
		rules, wrong := policy.Lists{Core: strings.Split(core, ", ")}.Rules(policy.User, "s")
		if wrong != nil {
			t.Fatal(wrong)
		}
		p := policy.New(policy.Default, rules...)
		if v, why := p.Judge(t.Context(), shell(engine.Opaque, "git x")); v != want {
			t.Errorf("%s: %s (%+v), want %s", core, policy.VerdictName(v), why, policy.VerdictName(want))
		}
	}
}

// What npx is told to run is found wherever it stands, and a call without
// arguments is judged like any other.
func TestRunners(t *testing.T) {
	const denies = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 1\n"
	for script, want := range map[string]engine.Verdict{"npx rm a": deny, "npx -y rm": deny, "uv run --with x rm": deny, "npx $x": ask, "npx x": ask, "cat rm": ask, "npx": ask} {
		if v, _ := policy.New(policy.Default, parse(t, policy.User, denies)...).Judge(t.Context(), shell(engine.Plain, script)); v != want {
			t.Errorf("%s: %s, want %s", script, policy.VerdictName(v), policy.VerdictName(want))
		}
	}
	const pattern = "[[rule]]\ntoolName = \"run_shell_command\"\nargsPattern = '\"command\":\"rm'\ndecision = \"deny\"\npriority = 1\n"
	q := shell(engine.Plain, "rm a")
	q.Args = nil
	if v, _ := policy.New(policy.Default, parse(t, policy.User, pattern)...).Judge(t.Context(), q); v != deny {
		t.Error("without arguments:", policy.VerdictName(v))
	}
}
