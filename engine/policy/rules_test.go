package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
	"gemline/tools/shell/script"
)

// parse returns the rules of a text of the user's.
func parse(t testing.TB, tier policy.Tier, text string) []policy.Rule {
	t.Helper()
	rules, warnings, err := policy.Parse("p.toml", tier, []byte(text))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return rules
}

// shell returns a call of the shell: commands with bars between them, whose
// words are literal but for those that begin with a dollar sign. A word before
// a colon says what the command is inside of, one with an equals sign what is
// set for it.
func shell(class engine.Class, line string) engine.Proposal {
	q := engine.Proposal{Args: map[string]any{"command": line}, Tool: named(policy.Shell, engine.Execute)}
	q.Intent.Plan.Class, q.Intent.Plan.Dir = class, "/dir"
	for text := range strings.SplitSeq(line, "|") {
		var c engine.Command
		for _, w := range strings.Fields(text) {
			switch {
			case len(c.Argv) == 0 && strings.HasSuffix(w, ":"):
				c.Wrapper = strings.TrimSuffix(w, ":")
			case len(c.Argv) == 0 && strings.Contains(w, "="):
				c.Env = append(c.Env, w)
			default:
				c.Argv = append(c.Argv, engine.Word{Text: w, Known: !strings.HasPrefix(w, "$")})
			}
		}
		c.Facts = script.Facts(c)
		q.Intent.Plan.Commands = append(q.Intent.Plan.Commands, c)
	}
	return q
}

func named(name string, k engine.Kind) engine.Tool {
	return engine.Tool{Kind: k, Declaration: &genai.FunctionDeclaration{Name: name,
		ParametersJsonSchema: map[string]any{"properties": map[string]any{"command": map[string]any{}, "file_path": map[string]any{}}}}}
}

const allowGit = `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", "git log", "echo", "sudo"]
decision = "allow"
priority = 100
`

const denyRm = `
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["rm", "git push"]
decision = "deny"
priority = 100
`

// What runs unasked, and what does not run, by the words of commands.
func TestShell(t *testing.T) {
	const ask, allow, deny = engine.Ask, engine.Allow, engine.Deny
	for _, c := range []struct {
		rules  string
		mode   policy.Mode
		class  engine.Class
		script string
		want   engine.Verdict
	}{
		{allowGit, "", engine.Plain, "git status", allow},
		{allowGit, "", engine.Plain, "git status -s | echo x", allow},
		{allowGit, "", engine.Plain, "git statusx", ask},
		{allowGit, "", engine.Plain, "git", ask},
		{allowGit, "", engine.Plain, "git -c x status", ask},
		{allowGit, "", engine.Plain, "git status | rm x", ask},
		{allowGit, "", engine.Plain, "./git status", ask},
		{allowGit, "", engine.Plain, "/usr/bin/git status", ask},
		{allowGit, "", engine.Plain, "GIT status", ask},
		{allowGit, "", engine.Plain, "A=1 git status", ask},
		{allowGit, "", engine.Plain, "git $x", ask},
		{allowGit, "", engine.Plain, "git status $x", ask},
		{allowGit, "", engine.Plain, "sudo git | sudo: touch x", ask},
		{allowGit, "", engine.Plain, "sudo echo x | sudo: echo x", allow},
		{allowGit, "", engine.Readable, "git status", ask},
		{allowGit, "", engine.Opaque, "git status", ask},
		{allowGit, policy.Plan, engine.Plain, "git status", deny},
		{allowGit, policy.Yolo, engine.Opaque, "$x", allow},
		{"", policy.Yolo, engine.Opaque, "rm x", allow},
		{"", "", engine.Plain, "ls", ask},
		{denyRm, policy.Yolo, engine.Plain, "ls", allow},
		{denyRm, policy.Yolo, engine.Readable, "ls $x", allow},
		{denyRm, policy.Yolo, engine.Readable, "$x ls", deny},
		{denyRm, policy.Yolo, engine.Opaque, "ls", deny},
		{denyRm, "", engine.Opaque, "ls", deny},
		{denyRm, policy.Yolo, engine.Plain, "rm x", deny},
		{denyRm, policy.Yolo, engine.Plain, "/bin/rm x", deny},
		{denyRm, policy.Yolo, engine.Plain, "RM.exe x", deny},
		{denyRm, policy.Yolo, engine.Plain, "grm x", deny}, // as GNU's is called beside another
		{denyRm, policy.Yolo, engine.Plain, "/opt/bin/grm -rf x", deny},
		{denyRm, policy.Yolo, engine.Plain, "npx -y rm x", deny},
		{denyRm, policy.Yolo, engine.Plain, "/opt/uv run -- /bin/rm x", deny},
		{denyRm, policy.Yolo, engine.Plain, "npx eslint rms", allow},
		{denyRm, policy.Yolo, engine.Readable, "A=1 rm x", deny},
		{denyRm, policy.Yolo, engine.Plain, "ls | xargs: rm", deny},
		{denyRm, policy.Yolo, engine.Plain, "rmdir x", allow},
		{denyRm, policy.Yolo, engine.Plain, "echo rm", allow},
		{denyRm, policy.Yolo, engine.Plain, "git push", deny},
		{denyRm, policy.Yolo, engine.Plain, "git -C dir --no-pager push origin", deny},
		{denyRm, policy.Yolo, engine.Plain, "git log push", allow},
		{denyRm, policy.Yolo, engine.Plain, "git -C a b push", allow},
		{denyRm, policy.Yolo, engine.Readable, "A=1", allow},
		{strings.Replace(denyRm, "git push", "tar -x f", 1), policy.Yolo, engine.Plain, "tar -x a f", deny},
		{strings.Replace(denyRm, "git push", "tar x f", 1), policy.Yolo, engine.Plain, "tar x a f", allow},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"A=1 rm\"\ndecision = \"deny\"\npriority = 1\n", policy.Yolo, engine.Readable, "A=1 rm x", deny},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"(rm )?'a\\\\*'\"\ndecision = \"deny\"\npriority = 1\n", policy.Yolo, engine.Plain, "rm a*", deny},
		{strings.ReplaceAll(allowGit, "priority = 100", "priority = 100\nmodes = \"default\""), "nonsense", engine.Plain, "git status", allow},
		{denyRm, policy.Yolo, engine.Readable, "git $x", deny},
		{denyRm + allowGit, "", engine.Plain, "git status", allow},
		{denyRm + strings.ReplaceAll(denyRm, "deny", "allow") + "\n", "", engine.Plain, "rm x", deny},
		{strings.Replace(denyRm, "100", "0", 1) + strings.ReplaceAll(strings.ReplaceAll(denyRm, "deny", "allow"), "100", "999"), "", engine.Plain, "rm x", deny},

		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"git (status|log)\"\ndecision = \"allow\"\npriority = 1\n", "", engine.Plain, "git log -1", allow},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"git (status|log)\"\ndecision = \"allow\"\npriority = 1\n", "", engine.Plain, "git logx", ask},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"git (status|log)\"\ndecision = \"allow\"\npriority = 1\n", "", engine.Plain, "echo git log", ask},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"rm .*-r\"\ndecision = \"deny\"\npriority = 1\n", policy.Yolo, engine.Plain, "/bin/rm x -rf", deny},
		{"[[rule]]\ntoolName = \"run_shell_command\"\nargsPattern = '\"command\":\"git '\ndecision = \"allow\"\npriority = 1\n", "", engine.Plain, "git log | rm x", ask},
		{"[[rule]]\ntoolName = \"run_shell_command\"\nargsPattern = '\"command\":\"git '\ndecision = \"allow\"\npriority = 1\n", "", engine.Plain, "git log | git show", allow},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 1\nallowRedirection = true\n", "", engine.Plain, "anything", allow},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 1\n", "", engine.Opaque, "anything", ask},
		{"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n" + allowGit, policy.Yolo, engine.Plain, "git status", deny},
		{"[[rule]]\ntoolName = \"ShellTool\"\ndecision = \"ask_user\"\npriority = 1\n", policy.Yolo, engine.Plain, "ls", ask},
	} {
		p := policy.New(c.mode, parse(t, policy.User, c.rules)...)
		e := p.Explain(shell(c.class, c.script))
		if e.Verdict != c.want {
			t.Errorf("%s of class %s in mode %q: %s, want %s, by %+v; rules:%s", c.script, c.class, c.mode, policy.VerdictName(e.Verdict), policy.VerdictName(c.want), e, c.rules)
		}
		if e.Verdict == deny && c.mode != policy.Plan && !strings.Contains(e.Reason, "p.toml:2") && !strings.Contains(e.Reason, "p.toml:1") {
			t.Errorf("%s: no rule is named: %s", c.script, e.Reason)
		}
	}
}

// Of equal rules the one that says more of a call counts, in any order.
func TestEqualRules(t *testing.T) {
	const asks = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"ask_user\"\npriority = 5\n"
	about := asks + "argsPattern = \"git\"\n"
	allow := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git\"\ndecision = \"allow\"\npriority = 6\n"
	for _, rules := range []string{asks + about + allow, about + asks + allow, allow + about + asks} {
		if got, why := policy.New(policy.Default, parse(t, policy.User, rules)...).Judge(t.Context(), shell(engine.Plain, "git log")); got != engine.Ask {
			t.Errorf("%s %s by\n%s", policy.VerdictName(got), why.Text, rules)
		}
	}
}

// Of two rules that speak of a call, that of the higher tier counts, then that
// of the higher priority, then the stricter one.
func TestTiers(t *testing.T) {
	rule := func(decision string, priority int) string {
		return fmt.Sprintf("[[rule]]\ntoolName = \"write_file\"\ndecision = %q\npriority = %d\n", decision, priority)
	}
	const ask, allow, deny = engine.Ask, engine.Allow, engine.Deny
	for _, c := range []struct {
		admin, user, project string
		mode                 policy.Mode
		want                 engine.Verdict
	}{
		{"", "", "", "", ask},
		{"", rule("allow", 0), "", "", allow},
		{rule("ask_user", 0), rule("allow", 999), "", "", ask},
		{"", rule("allow", 5) + rule("ask_user", 5), "", "", ask},
		{"", rule("allow", 6) + rule("ask_user", 5), "", "", allow},
		{"", rule("allow", 999) + rule("deny", 0), "", "", deny},
		{rule("allow", 999), rule("deny", 0), "", "", deny},
		{"", rule("allow", 999), rule("ask_user", 0), "", ask},
		{"", rule("allow", 999), rule("deny", 0), "", deny},
		{"", "", rule("deny", 0), policy.Yolo, deny},
		{"", rule("ask_user", 0), "", policy.Yolo, ask},
		{"", rule("allow", 999), "", policy.Plan, deny},
		{"", rule("ask_user", 999), rule("ask_user", 999), policy.Plan, deny},
	} {
		rules := slices.Concat(parse(t, policy.Admin, c.admin), parse(t, policy.User, c.user), parse(t, policy.Project, c.project))
		p := policy.New(c.mode, rules...)
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: named("write_file", engine.Edit)}); got != c.want {
			t.Errorf("%+v: %s", c, policy.VerdictName(got))
		}
		if got := p.Offers(named("write_file", engine.Edit)); got != (c.want != deny) {
			t.Errorf("%+v: offered: %v", c, got)
		}
	}
}

// Rules name tools by patterns, servers, kinds, agents and what is said of them.
func TestNames(t *testing.T) {
	mcp := named("mcp_git_hub_search", engine.Other)
	mcp.Server, mcp.ServerTool, mcp.Annotations = "git_hub", "search", map[string]any{"readOnlyHint": true}
	for rule, want := range map[string]bool{
		`toolName = "*"`:                                             true,
		`toolName = "mcp_*"`:                                         true,
		`toolName = "mcp_git_hub_*"`:                                 true,
		`toolName = "mcp_git_*"`:                                     false,
		`toolName = "mcp_git_hub_search"`:                            true,
		`toolName = "search"`:                                        false,
		"toolName = \"search\"\nmcpName = \"git_hub\"":               true,
		"toolName = \"search\"\nmcpName = \"*\"":                     true,
		"toolName = \"search\"\nmcpName = \"other\"":                 false,
		"toolName = \"*\"\nmcpName = \"other\"":                      false,
		"toolName = \"*\"\nsubagent = \"a\"":                         false,
		"toolName = \"*\"\ninteractive = true":                       true,
		"toolName = \"*\"\ninteractive = false":                      false,
		"toolName = \"*\"\ntoolKind = \"edit\"":                      false,
		"toolName = \"*\"\nmodes = [\"yolo\"]":                       false,
		"toolName = \"*\"\nmodes = [\"yolo\", \"default\"]":          true,
		"toolName = \"*\"\ntoolAnnotations = {readOnlyHint = true}":  true,
		"toolName = \"*\"\ntoolAnnotations = {readOnlyHint = false}": false,
		"toolName = [\"a\", \"mcp_*\"]":                              true,
	} {
		p := policy.New(policy.Default, parse(t, policy.User, "[[rule]]\ndecision = \"deny\"\npriority = 1\n"+rule)...)
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: mcp}); (got == engine.Deny) != want {
			t.Errorf("%s: %s", rule, policy.VerdictName(got))
		}
	}
	p := policy.New(policy.Default, parse(t, policy.User, "[[rule]]\ndecision = \"deny\"\npriority = 1\ntoolName = \"mcp_*\"\n")...)
	if !p.Offers(named("mcp_own", engine.Read)) {
		t.Error("a tool of our own is taken for a server's")
	}
}

// complaints returns what is wrong with a file of the user's, in lines.
func complaints(text string) string {
	_, warnings, err := policy.Parse("p.toml", policy.User, []byte(text))
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	return strings.Join(warnings, "\n")
}

// What is not understood is told, with the place of what is wrong.
func TestRefused(t *testing.T) {
	const good = "# rules\n\n[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 1\n\n[[rule]] # another\n"
	for text, want := range map[string]string{
		"x = ":                       "1:4: ",
		"rules = []":                 `1:1: rules are tables called [[rule]]`,
		"\n[[rules]]\na = 1":         `2:1: rules are tables called [[rule]]; those called "rules" ask and deny`,
		"[[safety_checker]]":         "1:1: gemline runs no safety checkers",
		"rule = 1":                   "1:1: rule must be a table",
		good:                         "8:1: the rule lacks toolName",
		good + "\tx = 1\n":           `9:2: "x" is not a key of a rule`,
		good + "denymessage = \"x\"": `9:1: "denymessage" is not a key of a rule; did you mean denyMessage?`,
		good + "toolName = \"*\"\ndecision = \"allow\"\npriority = \"1\"":                                                                       "11:1: priority must be a whole number from 0 to 999",
		good + "toolName = \"*\"\ndecision = \"allow\"\npriority = 1000":                                                                        "11:1: priority must be",
		good + "toolName = \"*\"\ndecision = \"Allow\"\npriority = 1":                                                                           `10:1: decision can be allow, ask_user, deny, not "Allow"`,
		good + "modes = [\n\"plan\", # [\n]\ntoolName = [\n\"glob\",\n]\ntoolAnnotations = {\na = 1\n}\ndecision = \"allow\"\npriority = \"1\"": "19:1: priority must be a whole number",
		good + "toolName = []\ndecision = \"allow\"\npriority = 1":                                                                              "9:1: toolName must not be an empty list",
		good + "toolName = [1]\ndecision = \"allow\"\npriority = 1":                                                                             "9:1: toolName must be a string or a list",
		good + "toolName = \"read_*\"\ndecision = \"allow\"\npriority = 1":                                                                      `9:1: "read_*" is no pattern`,
		good + "decision = \"deny\"\ntoolName = \"glob\"\npriority = 1\ncommandPrefix = \"rm\"":                                                 "10:1: commandPrefix and commandRegex are about",
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandPrefix = \"rm *\"":                                  `12:1: "rm *" is the prefix "rm", which covers all words that follow`,
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandPrefix = \"a; b\"":                                  `12:1: "a; b" holds ';'`,
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandPrefix = \" \"":                                     `12:1: " " names no program`,
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandRegex = \"(\"":                                      "12:1: commandRegex is no regular expression",
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandRegex = \"a)(b\"":                                   "12:1: commandRegex is no regular expression",
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandRegex = \"a\"\nargsPattern = \"a\"":                 "of commandPrefix, commandRegex, argsPattern, commandLine and target",
		good + "decision = \"deny\"\ntoolName = \"*\"\npriority = 1\nmodes = [\"yes\"]":                                                         "12:1: modes can be",
		good + "decision = \"deny\"\ntoolName = \"*\"\npriority = 1\ninteractive = 1":                                                           "12:1: interactive must be true or false",
		good + "decision = \"deny\"\ntoolName = \"*\"\npriority = 1\nmcpName = \"\"":                                                            "12:1: mcpName must not be empty",
		good + "description = '''\nx = [\n'''\npriority = 1\ntoolName = \"*\"\ndecision = 7":                                                    "14:1: decision must be a string",
		good + "mcpName = \"hub\"\npriority = 1":                                                                                                "8:1: the rule lacks decision",
		"\xff":                                                                                                                                  "is not UTF-8",
		good + "decision = \"deny\"\ntoolName = \"run_shell_command\"\npriority = 1\ncommandUndoable = false":                                   "12:1: commandUndoable can only be true",
		good + "decision = \"deny\"\ntoolName = \"glob\"\npriority = 1\ncommandUndoable = true":                                                 "10:1: commandUndoable is about run_shell_command",
		good + "decision = \"allow\"\ntoolName = \"glob\"\npriority = 1\ncommandLine = \"x\"":                                                   "10:1: commandLine is about run_shell_command",
	} {
		if got := complaints(text); !strings.Contains(got, want) || !strings.HasPrefix(got, "p.toml:") {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

// What a project allows is left out, and told.
func TestProjectsOnlyNarrow(t *testing.T) {
	rules, warnings, err := policy.Parse("p.toml", policy.Project, []byte(allowGit+denyRm))
	if err != nil || len(rules) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "p.toml:2: the rule is left out") {
		t.Error(rules, warnings, err)
	}
}

func TestLists(t *testing.T) {
	const ask, allow, deny = engine.Ask, engine.Allow, engine.Deny
	git := []string{"run_shell_command(git)"}
	ls := shell(engine.Plain, "ls")
	write := engine.Proposal{Tool: named("write_file", engine.Edit)}
	for _, c := range []struct {
		lists      policy.Lists
		tier       policy.Tier
		git, ls, w engine.Verdict
	}{
		{policy.Lists{}, policy.User, ask, ask, ask},
		{policy.Lists{Allowed: git}, policy.User, allow, deny, ask},
		{policy.Lists{Allowed: []string{"ShellTool"}}, policy.User, allow, allow, ask},
		{policy.Lists{Allowed: append(git, "run_shell_command")}, policy.User, allow, allow, ask},
		{policy.Lists{Allowed: []string{"write_file"}}, policy.User, ask, ask, allow},
		{policy.Lists{Allowed: git}, policy.Project, ask, ask, ask},
		{policy.Lists{Exclude: git}, policy.User, deny, ask, ask},
		{policy.Lists{Exclude: git}, policy.Project, deny, ask, ask},
		{policy.Lists{Exclude: []string{"WriteFileTool"}}, policy.User, ask, ask, deny},
		{policy.Lists{Core: git}, policy.User, allow, deny, deny},
		{policy.Lists{Core: git}, policy.Project, ask, deny, deny},
		{policy.Lists{Core: []string{}}, policy.User, deny, deny, deny},
		{policy.Lists{Core: []string{policy.Shell}}, policy.Project, ask, ask, deny},
		{policy.Lists{Allowed: []string{"write_file"}, Confirm: []string{"write_file"}}, policy.User, ask, ask, ask},
	} {
		rules, wrong := c.lists.Rules(c.tier, "settings")
		if wrong != nil {
			t.Fatal(wrong)
		}
		p := policy.New(policy.Default, rules...)
		for i, q := range []engine.Proposal{shell(engine.Plain, "git log"), ls, write} {
			if got, why := p.Judge(t.Context(), q); got != []engine.Verdict{c.git, c.ls, c.w}[i] {
				t.Errorf("%+v: %d: %s %s", c.lists, i, policy.VerdictName(got), why.Text)
			}
		}
	}
	// An opaque command is no matter of a list that says nothing of commands.
	rules, _ := policy.Lists{Core: []string{policy.Shell}}.Rules(policy.User, "settings")
	if got, why := policy.New(policy.Yolo, rules...).Judge(t.Context(), shell(engine.Opaque, "$x")); got != allow {
		t.Error(policy.VerdictName(got), why)
	}
}

// Whatever the rules are: one more that denies allows nothing more, neither do
// those of projects, their order does not matter, and neither an argument that
// the tool does not know nor a right that is asked for lets anything run.
func TestProperties(t *testing.T) {
	n := et.Rounds(3000, 1_000_000)
	if testing.Short() && !et.Soak() {
		n = 300
	}
	r := et.Random(t, 2)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	rule := func(decisions ...string) string {
		text := fmt.Sprintf("[[rule]]\ndecision = %q\npriority = %d\n", pick(decisions...), r.IntN(3))
		text += pick("toolName = \"*\"\n", "toolName = \"write_file\"\n", "toolName = \"run_shell_command\"\n",
			"toolName = \"run_shell_command\"\ncommandPrefix = \""+pick("git", "git log", "rm", "rm -f")+"\"\n",
			"toolName = \"run_shell_command\"\ncommandRegex = \""+pick("git", "g.*", "rm .*f")+"\"\n",
			"toolName = \""+pick("*", "write_file", "run_shell_command")+"\"\nargsPattern = '"+pick(`"file_path"`, `git`, `"command":"rm`, `x"\x00,\x00"f`)+"'\n")
		text += pick("", "", "", "network = true\n")
		text += pick("", "", "modes = [\""+pick("default", "yolo", "plan", "autoEdit")+"\"]\n")
		return text + pick("", "", "interactive = "+pick("true", "false")+"\n")
	}
	several := func(decisions ...string) (text string) {
		for range r.IntN(4) {
			text += rule(decisions...)
		}
		return text
	}
	call := func() engine.Proposal {
		if r.IntN(3) == 0 {
			return engine.Proposal{Tool: named("write_file", engine.Edit), Args: map[string]any{"file_path": pick("git", "x", "rm"), "command": "x"}}
		}
		return shell(engine.Class(r.IntN(3)), pick("git log", "git log | rm -f", "$x", "rm x", "ls", "A=1 rm", "/bin/rm -v -f"))
	}
	all := []string{"allow", "deny", "ask_user"}
	for range n {
		admin, user, project := parse(t, policy.Admin, several(all...)), parse(t, policy.User, several(all...)), parse(t, policy.Project, several("deny", "ask_user"))
		mode, alone := policy.Modes[r.IntN(len(policy.Modes))], r.IntN(2) == 0
		q := call()
		judge := func(q engine.Proposal, rules ...[]policy.Rule) engine.Verdict {
			p := policy.New(mode, slices.Concat(rules...)...)
			p.Unattended = alone
			v, _ := p.Judge(t.Context(), q)
			return v
		}
		got := judge(q, admin, user, project)
		if mode == policy.Plan && got != engine.Deny {
			t.Fatalf("plan mode: %v", q)
		}
		if got == engine.Allow && judge(q, admin, user) != engine.Allow {
			t.Fatalf("a project allows: %v", q)
		}
		if judge(q, admin, user, project, parse(t, policy.Tier(2+r.IntN(4)), rule("deny"))) == engine.Allow && got != engine.Allow {
			t.Fatalf("a rule that denies allows: %v", q)
		}
		mixed := slices.Concat(project, user, admin)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if judge(q, mixed) != got {
			t.Fatalf("the order matters: %v", q)
		}
		more := q
		more.Args = map[string]any{"e\"x": "git", "z": map[string]any{"command": "rm", "file_path": "git"}, "d": q.Args["command"]}
		for k, v := range q.Args {
			more.Args[k] = v
		}
		if judge(more, admin, user, project) == engine.Allow && got != engine.Allow {
			t.Fatalf("an argument that is not known lets it run: %v", q)
		}
		wants := q
		wants.Intent.Plan.Rights = engine.Rights{Network: r.IntN(4) > 0, Protected: r.IntN(4) == 0}
		if judge(wants, admin, user, project) == engine.Allow && got != engine.Allow {
			t.Fatalf("a right lets it run: %v", wants)
		}
	}
	t.Logf("policy: %d sets of rules, no property failed", n)
}

// A script of 200 commands, and rules that speak of them.
func BenchmarkScript(b *testing.B) {
	p := policy.New(policy.Default, parse(b, policy.User, strings.Repeat(allowGit+denyRm, 10))...)
	q := shell(engine.Plain, strings.TrimSuffix(strings.Repeat("git log -1 --oneline|", 200), "|"))
	for b.Loop() {
		if v, _ := p.Judge(b.Context(), q); v != engine.Allow {
			b.Fatal(v)
		}
	}
}

// Whatever a file holds, it is understood or refused.
func FuzzParse(f *testing.F) {
	f.Add([]byte(allowGit + denyRm))
	f.Add([]byte("rule = [{toolName = \"*\", decision = \"deny\", priority = 1}]"))
	nothing := parse(f, policy.Admin, "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n")[0]
	f.Add([]byte("[[rule]]\n[rule.toolAnnotations]\na = \"\"\"\n[[x]]\"\"\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, _, err := policy.Parse("p.toml", policy.User, text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q", err.Error())
			}
			return
		}
		of := func(tier policy.Tier) []policy.Rule {
			rules, _, err := policy.Parse("p.toml", tier, text)
			if err != nil {
				t.Errorf("as rules of the %v: %v", tier, err)
			}
			return rules
		}
		edit := engine.Proposal{Tool: named("write_file", engine.Edit), Args: map[string]any{"file_path": "x"}}
		look := engine.Proposal{Tool: named("read_file", engine.Read), Args: map[string]any{"file_path": "x"}}
		for _, q := range []engine.Proposal{edit, look, shell(engine.Plain, "git log | rm x"), shell(engine.Opaque, "$x")} {
			with := func(mode policy.Mode, rules ...policy.Rule) engine.Verdict {
				v, _ := policy.New(mode, rules...).Judge(t.Context(), q)
				return v
			}
			for _, tier := range []policy.Tier{policy.Project, policy.Extension} {
				if with(policy.Default, of(tier)...) == engine.Allow && with(policy.Default) != engine.Allow {
					t.Errorf("a %v allows %v", tier, q)
				}
			}
			if with(policy.Default, append(rules, nothing)...) != engine.Deny {
				t.Errorf("what the administrator denies is allowed: %v", q)
			}
			if with(policy.Plan, rules...) == engine.Allow && q.Tool.Kind != engine.Read {
				t.Errorf("allowed in plan mode: %v", q)
			}
			policy.New(policy.Default, rules...).Offers(q.Tool)
		}
	})
}

// Whatever runs commands is judged by them: rules about the shell are about any call
// that says what it would run, beside those that name its tool.
func TestPlans(t *testing.T) {
	rules := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make\"\ndecision = \"allow\"\npriority = 100\n" +
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"rm\"\ndecision = \"deny\"\npriority = 100\n"
	own := "[[rule]]\ntoolName = \"discovered_tool_build\"\ndecision = \"deny\"\npriority = 100\n"
	for _, test := range []struct {
		line, rules string
		class       engine.Class
		want        engine.Verdict
	}{
		{"make all", rules, engine.Plain, engine.Allow},
		{"make all|rm x", rules, engine.Plain, engine.Deny},
		{"make all|ls", rules, engine.Plain, engine.Ask},
		{"make all", rules, engine.Readable, engine.Ask},
		{"make all", rules, engine.Opaque, engine.Deny},
		{"make all", rules + own, engine.Plain, engine.Deny},
		{"", rules, engine.Plain, engine.Ask},
	} {
		q := shell(test.class, test.line)
		q.Tool, q.Args = named("discovered_tool_build", engine.Other), map[string]any{"target": "all"}
		if test.line == "" {
			q.Intent.Plan = engine.Plan{}
		}
		p := policy.New(policy.Default, parse(t, policy.User, test.rules)...)
		if got, _ := p.Judge(t.Context(), q); got != test.want {
			t.Errorf("%s %q: %v, want %v", test.class, test.line, got, test.want)
		}
	}
}
