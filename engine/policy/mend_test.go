package policy_test

import (
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// What becomes of a rule that is not understood, in a warning and in judgements: of what is
// meant to be denied more is, and of what is meant to be allowed nothing is.
func TestMended(t *testing.T) {
	const shellRule = "toolName = \"run_shell_command\"\n"
	for _, c := range []struct {
		name, rule string
		warning    string
		verdicts   string // of rm x, git log, write_file, glob: a letter for each, - for what nothing is said of
	}{
		{"unknown key", "toolName = \"glob\"\ndecision = \"deny\"\npriority = 5\nonly = \"/x\"", `5:1: "only" is not a key of a rule; it denies glob`, "---d"},
		{"unknown key, ask", "toolName = \"glob\"\ndecision = \"ask_user\"\npriority = 5\nonly = \"/x\"", `it asks about glob`, "---?"},
		{"unknown key, allow", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = 5\nonly = \"/x\"", `5:1: "only" is not a key of a rule; it allows nothing`, "----"},
		{"unknown key beside a prefix", shellRule + "commandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5\nonly = 1", `it denies run_shell_command; commands rm`, "d---"},
		{"prefix with a star", shellRule + "commandPrefix = \"rm *\"\ndecision = \"deny\"\npriority = 5", `3:1: "rm *" is the prefix "rm", which covers all words that follow`, "d---"},
		{"prefix with a star, allow", shellRule + "commandPrefix = [\"git:*\", \"go test *\"]\ndecision = \"allow\"\npriority = 5", `"git:*" is the prefix "git"`, "-a--"},
		{"prefix like a glob", shellRule + "commandPrefix = \"r*\"\ndecision = \"deny\"\npriority = 5", `holds '*', which is no wildcard here; a prefix covers all words that follow; it denies run_shell_command`, "dd--"},
		{"prefix like a glob, allow", shellRule + "commandPrefix = \"git*\"\ndecision = \"allow\"\npriority = 5", `it allows nothing`, "----"},
		{"prefix of every tool", "toolName = \"*\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5", `2:1: commandPrefix and commandRegex are about run_shell_command, not about "*"; it denies run_shell_command; commands rm`, "d---"},
		{"prefix of another tool", "toolName = [\"glob\", \"run_shell_command\"]\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5", `it denies run_shell_command; commands rm`, "d--d"},
		{"regex", shellRule + "commandRegex = \"rm(?!x)\"\ndecision = \"deny\"\npriority = 5", `commandRegex is no regular expression that gemline understands`, "dd--"},
		{"regex, allow", shellRule + "commandRegex = \"rm(?!x)\"\ndecision = \"allow\"\npriority = 5", `it allows nothing`, "----"},
		{"two patterns", shellRule + "commandPrefix = \"rm\"\nargsPattern = \"x\"\ndecision = \"deny\"\npriority = 5", `a rule can have one; it denies run_shell_command`, "d---"},
		{"arguments", "toolName = \"write_file\"\nargsPattern = \"[\"\ndecision = \"deny\"\npriority = 5", `it denies write_file`, "--d-"},
		{"a server", "mcpName = \"x\"\ndecision = \"deny\"\npriority = 500", ``, "----"},
		{"no tool", "decision = \"deny\"\npriority = 5", `1:1: the rule lacks toolName; it denies *`, "dddd"},
		{"no tool, allow", "decision = \"allow\"\npriority = 5", `1:1: the rule lacks toolName; it allows nothing`, "----"},
		{"no tool, but a prefix", "commandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5", `it denies run_shell_command; commands rm`, "d---"},
		{"a glob", "toolName = \"wr*\"\ndecision = \"deny\"\npriority = 5", `"wr*" is no pattern; *, mcp_*, mcp_SERVER_* and discovered_tool_* are; the rule is about every name that is like it`, "--d-"},
		{"a glob in the middle", "toolName = \"*_fi*\"\ndecision = \"ask_user\"\npriority = 5", `is no pattern`, "--?-"},
		{"a glob, allow", "toolName = \"wr*\"\ndecision = \"allow\"\npriority = 5", `it allows nothing`, "----"},
		{"a name of another agent", "toolName = \"Bash\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 5", `it denies run_shell_command; commands rm`, "d---"},
		{"another agent's file tool", "toolName = \"Write\"\ndecision = \"deny\"\npriority = 5", `there is no tool "Write"; did you mean write_file? The rule is about both`, "--d-"},
		{"a misspelled tool", "toolName = \"write_flie\"\ndecision = \"deny\"\npriority = 5", `did you mean write_file? The rule is about both`, "--d-"},
		{"another agent's file tool, allow", "toolName = \"Write\"\ndecision = \"allow\"\npriority = 5", `there is no tool "Write"; did you mean write_file?`, "----"},
		{"decision", "toolName = \"glob\"\ndecision = \"Deny\"\npriority = 5", `3:1: decision can be allow, ask_user, deny, not "Deny"; it denies glob`, "---d"},
		{"decision of none", "toolName = \"glob\"\ndecision = \"block\"\npriority = 5", `it denies glob`, "---d"},
		{"decision to ask", "toolName = \"glob\"\ndecision = \"ask\"\npriority = 5", `it asks about glob`, "---?"},
		{"decision to allow", "toolName = \"write_file\"\ndecision = \"Allow\"\npriority = 5", `it allows nothing`, "----"},
		{"no decision", "toolName = \"glob\"\npriority = 5", `the rule lacks decision; it denies glob`, "---d"},
		{"priority above", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = 1000", `4:1: priority must be a whole number from 0 to 999; it allows nothing`, "----"},
		{"priority below", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = -5", `it allows nothing`, "----"},
		{"priority in words", "toolName = \"glob\"\ndecision = \"ask_user\"\npriority = \"high\"", `it asks about glob`, "---?"},
		{"no priority", "toolName = \"write_file\"\ndecision = \"allow\"", `the rule lacks priority; it allows nothing`, "----"},
		{"priority in quotation marks", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = \"100\"", `it allows nothing`, "----"},
		{"modes", "toolName = \"glob\"\ndecision = \"deny\"\npriority = 5\nmodes = [\"always\"]", `it denies glob`, "---d"},
		{"a tool that is none", "toolName = [3, \"write_file\"]\ndecision = \"deny\"\npriority = 5", `it denies write_file`, "--d-"},
		{"a prefix alone", "commandPrefix = \"rm\"", `it denies run_shell_command; commands rm`, "d---"},
		{"a name that is none", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = 5\nname = 5", `name must be a string; it allows nothing`, "----"},
		{"a hint", "toolName = \"glob\"\ndecision = \"deny\"\npriority = 5\ntoolAnnotations = { readonly_hint = true }", `there is no hint "readonly_hint", only readOnlyHint; it denies glob`, "---d"},
		{"a hint of another type", "toolName = \"glob\"\ndecision = \"deny\"\npriority = 5\ntoolAnnotations = { destructiveHint = \"yes\" }", `toolAnnotations.destructiveHint must be true or false; it denies glob`, "---d"},
		{"a hint, allow", "toolName = \"write_file\"\ndecision = \"allow\"\npriority = 5\ntoolAnnotations = { read_only_hint = true }", `it allows nothing`, "----"},
		{"nothing", "name = \"x\"", `it says nothing, and is passed over`, "----"},
		{"everything", "toolName = [3, \"glob\"]\ndecision = 7\npriority = []\nmodes = 5\nmcpName = 5\ncommandRegex = \"(\"\nx = 1", `it denies`, "dd-d"},
	} {
		rules, warnings, err := policy.Parse("p.toml", policy.User, []byte("[[rule]]\n"+c.rule+"\n"))
		if got := strings.Join(warnings, "\n"); err != nil || !strings.Contains(got, c.warning) || (got == "") != (c.warning == "") {
			t.Errorf("%s: %v %q, want %q", c.name, err, got, c.warning)
		}
		p := policy.New(policy.Default, rules...)
		got := ""
		for _, q := range []engine.Proposal{shell(engine.Plain, "rm x"), shell(engine.Plain, "git log"),
			{Tool: named("write_file", engine.Edit)}, {Tool: named("glob", engine.Search)}} {
			e := p.Explain(q)
			switch {
			case e.Rule == nil || e.Rule.Tier == policy.BuiltIn:
				got += "-"
			default:
				got += map[engine.Verdict]string{engine.Allow: "a", engine.Ask: "?", engine.Deny: "d"}[e.Verdict]
			}
		}
		if got != c.verdicts {
			t.Errorf("%s: %s, want %s: %v", c.name, got, c.verdicts, warnings)
		}
	}
}

// A priority that is none is the nearest, and the strongest if it is no number. A rule that
// allows is dropped.
func TestNearPriority(t *testing.T) {
	for value, want := range map[string]int{`"7"`: 7, `" 7 "`: 7, `"high"`: 999, "5.5": 5, "1e9": 999, "-1.5": 0, "1000": 999, "-1": 0, "[]": 999} {
		rule := "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = " + value + "\n"
		rules, _, err := policy.Parse("p.toml", policy.User, []byte(rule))
		if err != nil || len(rules) != 1 || rules[0].Priority != want {
			t.Errorf("%s: %+v, %v; want %d", value, rules, err, want)
		}
		rules, _, err = policy.Parse("p.toml", policy.User, []byte(strings.Replace(rule, "deny", "allow", 1)))
		if err != nil || len(rules) != 0 {
			t.Errorf("%s, allow: %+v, %v; want no rule", value, rules, err)
		}
	}
}

// One bad rule leaves the others of its file as they are.
func TestOthersHold(t *testing.T) {
	rules, warnings, err := policy.Parse("p.toml", policy.User, []byte(denyRm+"[[rule]]\ntoolName = 1\ndecision = \"allow\"\npriority = 1\n"+allowGit))
	if err != nil || len(rules) != 2 || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "p.toml:8:1: toolName must be") {
		t.Error(rules, warnings, err)
	}
}

// Tables that are none of rules are passed over, unless they may be meant as such.
func TestOtherTables(t *testing.T) {
	const glob = "toolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n"
	for text, want := range map[string]struct {
		rules          int
		warning, wrong string
	}{
		"version = 1\n": {0, `p.toml:1:1: "version" is not understood, and passed over`, ""},
		"[meta]\nauthor = \"me\"\n[[rule]]\n" + glob: {1, `p.toml:1:1: "meta" is not understood, and passed over`, ""},
		"[rule]\n" + glob:    {1, "p.toml:1:1: a rule stands below [[rule]], with two brackets", ""},
		"[[rules]]\n" + glob: {1, `p.toml:1:1: rules are tables called [[rule]]; those called "rules" ask and deny, and allow nothing`, ""},
		"[[rules]]\n" + strings.ReplaceAll(glob, "deny", "allow"): {0, "and allow nothing", ""},
		"[[policy]]\n" + glob: {0, "", `p.toml:1:1: "policy" is not understood; rules are tables called [[rule]]`},
		"rule = 1\n":          {0, "", "p.toml:1:1: rule must be a table"},
		"[[safety_checker]]\ntoolName = \"glob\"\npriority = 100\n[safety_checker.checker]\ntype = \"in-process\"\nname = \"allowed-path\"\n": {1,
			"p.toml:1:1: gemline runs no safety checkers; calls that this one is about are asked about", ""},
		"[[safety_checker]]\n[safety_checker.checker]\nname = \"conseca\"\n": {0, "gemline has no checker conseca", ""},
	} {
		rules, warnings, err := policy.Parse("p.toml", policy.User, []byte(text))
		got := strings.Join(warnings, "\n")
		if (err == nil) != (want.wrong == "") || err != nil && !strings.Contains(err.Error(), want.wrong) ||
			len(rules) != want.rules || !strings.Contains(got, want.warning) {
			t.Errorf("%q: %d rules, %q, %v", text, len(rules), got, err)
		}
	}
	rules, _, _ := policy.Parse("p.toml", policy.User, []byte("[[safety_checker]]\ntoolName = \"glob\"\n[safety_checker.checker]\ntype = \"external\"\nname = \"mine\"\n"))
	if v, _ := policy.New(policy.Yolo, rules...).Judge(t.Context(), engine.Proposal{Tool: named("glob", engine.Search)}); v != engine.Ask {
		t.Error("what would be checked runs unasked")
	}
}

// Entries of lists in settings, and what becomes of those that are not understood: what is
// allowed, or else what is denied, of git log, gitk, rm x, and read_file.
func TestEntries(t *testing.T) {
	for entry, want := range map[string]struct{ warning, allows, denies string }{
		"run_shell_command":              {"", "yyyn", "yyyn"},
		"run_shell_command (git)":        {"", "ynnn", "ynnn"},
		"ShellTool(git)":                 {"", "ynnn", "ynnn"},
		`run_shell_command("git log")`:   {"", "ynnn", "ynnn"},
		`run_shell_command( 'git log')`:  {"", "ynnn", "ynnn"},
		`run_shell_command('git' log )`:  {"", "ynnn", "ynnn"},
		`Bash("git log:*")`:              {"is called run_shell_command(", "nnnn", "ynnn"},
		`run_shell_command("git log *")`: {"is taken for", "ynnn", "ynnn"},
		`run_shell_command("git log)`:    {"quotation mark that is not closed", "nnnn", "yyyn"},
		"shell(git)":                     {"", "ynnn", "ynnn"},
		"run_shell_command(git *)":       {`is taken for run_shell_command(git), which covers all words that follow`, "ynnn", "ynnn"},
		"run_shell_command(git:*)":       {`is taken for run_shell_command(git), which`, "ynnn", "ynnn"},
		"run_shell_command( git log *)":  {`is taken for run_shell_command(git log), which`, "ynnn", "ynnn"},
		"run_shell_command(npm:*)":       {`is taken for run_shell_command(npm)`, "nnnn", "nnnn"},
		"run_shell_command(*)":           {`is taken for run_shell_command`, "yyyn", "yyyn"},
		"run_shell_command(git*)":        {`no wildcard here; a prefix covers all words that follow; run_shell_command(git) is understood`, "nnnn", "yyyn"},
		"write_file,run_shell_command":   {"names several tools; each is an entry of its own", "nnnn", "yyyn"},
		"run_shell_command(git":          {"lacks a closing parenthesis", "nnnn", "yyyn"},
		"run_shell_command()":            {"names no program", "nnnn", "yyyn"},
		"run_shell_command(git | rm)":    {"is no part of a word", "nnnn", "yyyn"},
		"Bash":                           {"is called run_shell_command here", "nnnn", "yyyn"},
		"Bash(git *)":                    {"is called run_shell_command(git) here", "nnnn", "ynnn"},
		"Bash(git log:*)":                {"is called run_shell_command(git log) here", "nnnn", "ynnn"},
		"bash(rm)":                       {"is called run_shell_command(rm) here", "nnnn", "nnyn"},
		"Read(src/**)":                   {"can't be limited to the words in parentheses; read_file is all of it", "nnnn", "nnny"},
		"read_file(src/**)":              {"can't be limited to the words in parentheses; read_file is all of it", "nnnn", "nnny"},
		"read_file(*)":                   {"is taken for read_file", "nnny", "nnny"},
		"read_*":                         {"is no pattern", "nnnn", "nnny"},
		"":                               {"names no tool", "nnnn", "nnnn"},
		"(git)":                          {"names no tool", "nnnn", "nnnn"},
		"mcp_hub_*":                      {"", "nnnn", "nnnn"},
		"m*p_*":                          {"is no pattern", "nnnn", "nnnn"},
		"hub__find":                      {"is called mcp_hub_find here", "nnnn", "nnnn"},
		"mcp__hub":                       {"is called mcp_hub_* here", "nnnn", "nnnn"},
		"mcp__hub__*":                    {"is called mcp_hub_* here", "nnnn", "nnnn"},
		"run_shel_command":               {"is the name of no tool; did you mean run_shell_command?", "nnnn", "yyyn"},
		"read_flie":                      {"is the name of no tool; did you mean read_file?", "nnnn", "nnny"},
		"grep_serach":                    {"is the name of no tool; did you mean grep_search?", "nnnn", "nnnn"},
		"search_file_content":            {"", "nnnn", "nnnn"},
		"discovered_tool_x":              {"", "nnnn", "nnnn"},
		"reviewer":                       {"", "nnnn", "nnnn"},
		"run_shell_command(a)b":          {"lacks a closing parenthesis", "nnnn", "yyyn"},
	} {
		for v, tried := range map[engine.Verdict]string{engine.Allow: want.allows, engine.Deny: want.denies} {
			l := policy.Lists{Line: 3, Column: 1, Exclude: []string{entry}}
			if v == engine.Allow {
				l = policy.Lists{Line: 3, Column: 1, Allowed: []string{entry}}
			}
			rules, warnings := l.Rules(policy.User, "s.json")
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, want.warning) || (got == "") != (want.warning == "") ||
				got != "" && !strings.HasPrefix(got, "s.json:3:1: tools.") {
				t.Errorf("%s: %q", entry, got)
			}
			got := ""
			p := policy.New(policy.Default, rules...)
			for _, q := range []engine.Proposal{shell(engine.Plain, "git log"), shell(engine.Plain, "gitk"), shell(engine.Plain, "rm x"), {Tool: named("read_file", engine.Edit)}} {
				e := p.Explain(q)
				got += map[bool]string{true: "y", false: "n"}[e.Verdict == v && !(v == engine.Deny && strings.Contains(e.Reason, "Only the commands"))]
			}
			if got != tried {
				t.Errorf("%s, %s: %s, want %s (%v)", entry, policy.VerdictName(v), got, tried, warnings)
			}
		}
	}
}

// An entry that denies more than was meant says so.
func TestEntriesThatDenyAll(t *testing.T) {
	for entry, want := range map[string]bool{"Read(src/**)": true, `run_shell_command("git log)`: true, "Bash(git *)": false, "": false} {
		_, warnings := policy.Lists{Exclude: []string{entry}}.Rules(policy.User, "s.json")
		if got := strings.Join(warnings, "\n"); strings.Contains(got, "; all of ") != want {
			t.Errorf("%s: %q", entry, got)
		}
	}
}

// A wildcard denial is a default: rules of a higher priority, in its tier or a stronger one,
// make exceptions, and the tools that they are about are declared. A denial of what has a
// name holds in any case.
func TestDeniedByDefault(t *testing.T) {
	rule := func(tool, decision, priority, more string) string {
		return "[[rule]]\ntoolName = \"" + tool + "\"\ndecision = \"" + decision + "\"\npriority = " + priority + "\n" + more
	}
	deny := rule("*", "deny", "1", "")
	for _, c := range []struct {
		name         string
		admin, user  string
		mode         policy.Mode
		tool, script string
		want         engine.Verdict
		offered      bool
	}{
		{"an exception", "", deny + rule("read_file", "allow", "50", ""), "", "read_file", "", engine.Allow, true},
		{"no exception", "", deny + rule("read_file", "allow", "50", ""), "", "glob", "", engine.Deny, false},
		{"one that asks", "", deny + rule("read_file", "ask_user", "2", ""), policy.Yolo, "read_file", "", engine.Ask, true},
		{"in yolo", "", deny + rule("read_file", "allow", "50", ""), policy.Yolo, "glob", "", engine.Deny, false},
		{"a weaker one", "", rule("*", "deny", "60", "") + rule("read_file", "allow", "50", ""), "", "read_file", "", engine.Deny, false},
		{"an equal one", "", deny + rule("read_file", "allow", "1", ""), "", "read_file", "", engine.Deny, false},
		{"by its name", "", rule("read_file", "deny", "1", "") + rule("read_file", "allow", "50", ""), "", "read_file", "", engine.Deny, false},
		{"the administrator's", deny, rule("read_file", "allow", "999", ""), "", "read_file", "", engine.Deny, false},
		{"both the administrator's", deny + rule("read_file", "allow", "2", ""), "", "", "read_file", "", engine.Allow, true},
		{"the user's, under an administrator's exception", rule("read_file", "allow", "0", ""), rule("*", "deny", "999", ""), "", "read_file", "", engine.Allow, true},
		{"every tool of a kind", "", rule("*", "deny", "1", "toolKind = \"read\"\n") + rule("read_file", "allow", "50", ""), "", "read_file", "", engine.Allow, true},
		{"an exception for a kind", "", deny + rule("*", "allow", "50", "toolKind = \"read\"\n"), "", "read_file", "", engine.Allow, true},
		{"arguments", "", rule("*", "deny", "1", "argsPattern = \"secret\"\n") + rule("read_file", "allow", "50", ""), "", "read_file", "", engine.Deny, true},
		{"a command", "", deny + rule(policy.Shell, "allow", "50", "commandPrefix = \"git\"\n"), "", "", "git log", engine.Allow, true},
		{"another command", "", deny + rule(policy.Shell, "allow", "50", "commandPrefix = \"git\"\n"), "", "", "ls", engine.Deny, true},
		{"one of two commands", "", deny + rule(policy.Shell, "allow", "50", "commandPrefix = \"git\"\n"), "", "", "git log | ls", engine.Deny, true},
		{"a command that is not known", "", deny + rule(policy.Shell, "allow", "50", "commandPrefix = \"git\"\n"), policy.Yolo, "", "$x", engine.Deny, true},
		{"the whole shell", "", deny + rule(policy.Shell, "allow", "50", ""), "", "", "ls", engine.Allow, true},
		{"the whole shell, not known", "", deny + rule(policy.Shell, "allow", "50", ""), policy.Yolo, "", "$x", engine.Allow, true},
		{"the whole shell but rm", "", deny + rule(policy.Shell, "allow", "50", "") + rule(policy.Shell, "deny", "1", "commandPrefix = \"rm\"\n"), "", "", "rm x", engine.Deny, true},
		{"in plan mode", "", deny + rule(policy.Shell, "allow", "50", ""), policy.Plan, "", "ls", engine.Deny, false},
		{"an agent", "", deny + rule("scout", "allow", "50", ""), "", "invoke_agent", "", engine.Allow, true},
		{"another agent", "", deny + rule("other", "allow", "50", ""), "", "invoke_agent", "", engine.Deny, true},
	} {
		p := policy.New(c.mode, append(parse(t, policy.Admin, c.admin), parse(t, policy.User, c.user)...)...)
		q := engine.Proposal{Tool: named(c.tool, engine.Read), Args: map[string]any{"file_path": "secret", "agent_name": "scout"}}
		if c.script != "" {
			q = shell(engine.Plain, c.script)
			if strings.HasPrefix(c.script, "$") {
				q = shell(engine.Opaque, c.script)
			}
		}
		if got, why := p.Judge(t.Context(), q); got != c.want {
			t.Errorf("%s: %s %s", c.name, policy.VerdictName(got), why.Text)
		}
		if got := p.Offers(q.Tool); got != c.offered {
			t.Errorf("%s: offered: %t", c.name, got)
		}
	}
}

// tools.core leaves those tools declared that it names, and no others.
func TestCoreDeclares(t *testing.T) {
	rules, _ := policy.Lists{Core: []string{"run_shell_command(git)", "glob"}}.Rules(policy.User, "s")
	for tool, want := range map[string]bool{policy.Shell: true, "glob": true, "read_file": false, "write_file": false} {
		for _, m := range []policy.Mode{policy.Default, policy.Yolo} {
			if got := policy.New(m, rules...).Offers(named(tool, engine.Execute)); got != want {
				t.Errorf("%s in %s: %t", tool, m, got)
			}
		}
	}
}

// TestCore has tools.core name what is no tool: that is said, and nothing more is allowed.
func TestCore(t *testing.T) {
	for entry, want := range map[string]string{
		"nope":                  "is the name of no tool, and allows nothing but an agent of that name",
		"Nope":                  "is the name of no tool, and allows nothing but an agent of that name",
		"my_tool":               "is the name of no tool, and allows",
		"read_flie":             "is the name of no tool; did you mean read_file? It allows nothing",
		"run_shel_command(git)": "it allows nothing",
		"read_file":             "",
		"ReadFileTool":          "",
		"ls":                    "",
		"save_memory":           "",
		"cli_help":              "",
		"mcp_hub_find":          "",
		"mcp_hub_*":             "",
		"discovered_tool_x":     "",
		"tracker_list_tasks":    "",
		"*":                     "",
	} {
		rules, warnings := policy.Lists{Line: 3, Column: 1, Core: []string{entry}}.Rules(policy.User, "s.json")
		if got := strings.Join(warnings, "\n"); !strings.Contains(got, want) || (got == "") != (want == "") ||
			got != "" && (len(warnings) > 1 || !strings.HasPrefix(got, "s.json:3:1: tools.core: ")) {
			t.Errorf("%s: %q", entry, got)
		}
		p := policy.New(policy.Yolo, rules...)
		if v, _ := p.Judge(t.Context(), engine.Proposal{Tool: named("glob", engine.Search)}); (v == engine.Deny) != (entry != "*") {
			t.Errorf("%s: glob is judged %v", entry, v)
		}
	}
}
