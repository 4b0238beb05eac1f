package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// A rule says in a line what it is about.
func TestAbout(t *testing.T) {
	for text, want := range map[string]string{
		`toolName = ["glob", "mcp_*"]`: "glob, mcp_*",
		"toolName = \"run_shell_command\"\ncommandPrefix = [\"git log\", \"rm 'a b'\"]":                          "run_shell_command; commands git log, rm 'a b'",
		"toolName = \"run_shell_command\"\ncommandRegex = \"a(b|c)\"":                                            "run_shell_command; commands like a(b|c)",
		"toolName = \"*\"\nargsPattern = \"x\\u0007\"\ntoolKind = [\"edit\", \"fetch\"]":                         "*; arguments like x\uFFFD; of kind edit, fetch",
		"toolName = \"*\"\nmcpName = \"hub\"\nsubagent = \"a\"\nmodes = [\"yolo\", \"auto_edit\", \"autoEdit\"]": "*; of server hub; called by a; in mode yolo, auto_edit, auto_edit",
		"toolName = \"run_shell_command\"\ncommandSafe = true":                                                   "run_shell_command; commands that only look",
		"toolName = \"run_shell_command\"\ncommandUndoable = true\nnetwork = true":                               "run_shell_command; commands that can be taken back; with the network",
		"toolName = \"*\"\ninteractive = true":                                                                   "*; with a user",
		"toolName = \"*\"\ninteractive = false\ntoolAnnotations = { b = 1, a = \"x\", c = 1.5 }":                 "*; without a user; annotated a=x; annotated b=1; annotated c=1.5",
	} {
		rules := parse(t, policy.Admin, "[[rule]]\ndecision = \"deny\"\npriority = 7\n"+text)
		if got := rules[0].About(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if got := rules[0].Where() + " " + rules[0].Tier.String(); got != "p.toml:1 admin" {
			t.Error(got)
		}
		if rules[0].Learned() {
			t.Error("it was kept by nobody")
		}
	}
	line := parse(t, policy.User, "[[rule]]\ntoolName = \"run_shell_command\"\ncommandLine = \"ls\"\ndirectory = \"/x\"\ndecision = \"allow\"\npriority = 1\n")
	if got, want := line[0].About(), `run_shell_command; the command line "ls"; in /x`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rules, wrong := policy.Lists{Core: []string{"run_shell_command(git log)"}}.Rules(policy.User, "settings.json")
	if wrong != nil || len(rules) != 2 {
		t.Fatal(rules, wrong)
	}
	if got, want := rules[1].About(), "*; but not run_shell_command; commands git log"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := rules[0].Where(), `settings.json, tools.core "run_shell_command(git log)"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for v, want := range map[engine.Verdict]string{engine.Allow: "allow", engine.Deny: "deny", engine.Ask: "ask_user", 9: "ask_user"} {
		if got := policy.VerdictName(v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for tier, want := range map[policy.Tier]string{policy.BuiltIn: "built-in", policy.Extension: "extension", policy.Project: "project", policy.User: "user"} {
		if tier.String() != want {
			t.Errorf("%s, want %s", tier, want)
		}
	}
	for want, l := range map[string]policy.Lists{"s.json:3, tools.exclude \"glob\"": {Line: 3, Exclude: []string{"glob"}}, "s.json, mcp.excluded \"hub\"": {Excluded: []string{"hub"}}} {
		if rules, wrong := l.Rules(policy.User, "s.json"); wrong != nil || rules[0].Where() != want {
			t.Errorf("%v %v, want %s", rules, wrong, want)
		}
	}
}

// What is kept is what the user said "always" to, and nothing like it.
func TestKept(t *testing.T) {
	for text, want := range map[string]bool{"allow 950": true, "deny 950": false, "allow 949": false} {
		decision, priority, _ := strings.Cut(text, " ")
		rule := "[[rule]]\ntoolName = \"glob\"\ndecision = \"" + decision + "\"\npriority = " + priority
		if got := parse(t, policy.User, rule)[0].Learned(); got != want {
			t.Errorf("%s: %t", text, got)
		}
		if parse(t, policy.Admin, rule)[0].Learned() {
			t.Errorf("%s: the administrator's", text)
		}
	}
}

// The rules are listed by their weight, also those that concern one tool.
func TestOrder(t *testing.T) {
	text := ""
	for _, s := range []string{"allow 1", "deny 3", "ask_user 3", "allow 3", "allow 2"} {
		decision, priority, _ := strings.Cut(s, " ")
		text += fmt.Sprintf("[[rule]]\ntoolName = \"glob\"\ndecision = %q\npriority = %s\n", decision, priority)
	}
	p := policy.New(policy.Default, append(parse(t, policy.User, text), parse(t, policy.Project, "[[rule]]\ntoolName = \"replace\"\ndecision = \"deny\"\npriority = 999\n")...)...)
	words := func(list []policy.Rule) (words []string) {
		for _, r := range list {
			if r.Tier != policy.BuiltIn {
				words = append(words, fmt.Sprint(policy.VerdictName(r.Verdict), " ", r.Priority))
			}
		}
		return words
	}
	want := []string{"deny 3", "ask_user 3", "allow 3", "allow 2", "allow 1"}
	if got := words(p.Rules()); !slices.Equal(got, append(want, "deny 999")) {
		t.Errorf("%q", got)
	}
	if got := words(p.RulesFor(named("glob", engine.Search))); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// Nothing is left locked.
	if p.SetMode(policy.Yolo); p.Mode() != policy.Yolo {
		t.Error(p.Mode())
	}
	as := p.WithUnattended(true)
	if !as.Unattended || as.Mode() != policy.Yolo || !slices.Equal(words(as.Rules()), words(p.Rules())) {
		t.Error("the copy is another")
	}
	if v, _ := p.WithUnattended(false).Judge(t.Context(), engine.Proposal{Tool: named("glob", engine.Search)}); v != engine.Deny {
		t.Error(v)
	}
}

// The priorities of what settings say, by what outdoes what.
func TestListsOutdo(t *testing.T) {
	list := func(l policy.Lists) map[string]int {
		rules, wrong := l.Rules(policy.User, "s")
		if wrong != nil {
			t.Fatal(wrong)
		}
		got := map[string]int{}
		for _, r := range rules {
			got[policy.VerdictName(r.Verdict)+" "+r.About()] = r.Priority
		}
		return got
	}
	got := list(policy.Lists{Core: []string{"glob"}, Allowed: []string{"ls", "run_shell_command(git)"}, Exclude: []string{"replace"}, Confirm: []string{"write_file"},
		Trusted: []string{"hub", ""}, Servers: []string{"lab"}, Unasked: []string{"mill"}, Excluded: []string{"evil", ""}})
	want := map[string]int{
		"deny *; of server evil": 900, "deny replace": 400, "ask_user write_file": 350, "allow ls": 300, "allow run_shell_command; commands git": 300,
		"deny run_shell_command; but not run_shell_command; commands git": 290, "allow glob; in mode default, auto_edit, auto, yolo": 250, "deny *; but not glob": 240,
		"allow *; of server hub; in mode default, auto_edit, auto, yolo": 200, "allow *; of server lab; in mode default, auto_edit, auto, yolo": 100,
		"allow *; of server mill; in mode default, auto_edit, auto, yolo": 100,
	}
	for about, priority := range want {
		if got[about] != priority {
			t.Errorf("%s: %d, want %d; got %v", about, got[about], priority, got)
		}
	}
	if len(got) != len(want) {
		t.Error(got)
	}
	for _, name := range []string{"mcp_*", "mcp_hub_*", "discovered_tool_*", "*"} {
		if got := list(policy.Lists{Exclude: []string{name}}); got["deny "+name] != 400 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The words of a prefix, and what is refused in one.
func TestPrefixes(t *testing.T) {
	for text, want := range map[string]string{
		"git  log":     "git log",
		"git\tlog ":    "git log",
		"a 'b  c' d":   "a 'b  c' d",
		`a "b c"`:      "a 'b c'",
		`a "b'c"`:      `a 'b'\''c'`,
		`a '"$*;\'`:    `a '"$*;\'`,
		"a 'b'c":       "a bc",
		"a\x00b":       `! holds '\x00'`,
		"a ''":         "a ''",
		`a "x;y" z`:    "a 'x;y' z",
		`a "x	y"`:      "a 'x\uFFFDy'",
		`a "x*?[]{}~"`: "a 'x*?[]{}~'",
		"-":            "-",
		"''":           "! names no program",
		"":             "! must be",
		"'' a":         "! names no program",
		"a 'b":         "! has a quotation mark that is not closed",
		`a "b'`:        "! has a quotation mark that is not closed",
		"a b*":         "! holds '*', which is no wildcard here",
		"a?":           "! holds '?', which is no wildcard",
		"a [b]":        "! holds '[', which is no wildcard",
		"a$b":          "! holds '$', which is no part of a word",
		`a "$b"`:       "! holds '$'",
		"a `b`":        "! holds '`'",
		"a > b":        "! holds '>'",
		"a #b":         "! holds '#'",
		"~/a":          "! holds '~'",
		"a\nb":         `! holds '\n'`,
		"a \x01":       `! holds '\x01'`,
		`a "` + "\x01": `! holds '\x01'`,
		`a\b`:          `! holds '\\'`,
	} {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x01", `\u0001`, "\x00", `\u0000`, "\t", `\t`).Replace(text)
		rules, warnings, err := policy.Parse("p.toml", policy.User, []byte("[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\ncommandPrefix = \""+quoted+"\"\n"))
		if problem, bad := strings.CutPrefix(want, "! "); bad {
			got := fmt.Sprint(err, warnings)
			if !strings.Contains(got, problem) || !strings.Contains(got, "p.toml:5:1: ") {
				t.Errorf("%q: %v, want %s", text, got, problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := strings.TrimPrefix(rules[0].About(), "run_shell_command; commands "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Every key, and what each refuses.
func TestKeys(t *testing.T) {
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 0\n"
	for _, text := range []string{`denyMessage = "no"`, `deny_message = "no"`, `allowRedirection = true`, `allow_redirection = false`, `name = "x"`, `description = "x"`,
		`priority = 999`, `commandRegex = '` + strings.Repeat("a", 2048) + `'`, `toolName = "discovered_tool_*"`, `toolName = "mcp_a_*"`, `toolAnnotations = {a = true, b = "x", c = 1, d = 1.5}`} {
		with := rule + text + "\n"
		if key, _, _ := strings.Cut(text, " "); strings.Contains(rule, "\n"+key) {
			with = ""
			for line := range strings.Lines(rule) {
				if strings.HasPrefix(line, key) {
					line = text + "\n"
				}
				with += line
			}
		}
		rules, _, err := policy.Parse("p.toml", policy.User, []byte("\ufeff"+with))
		if err != nil || len(rules) != 1 {
			t.Errorf("%.80s: %v", text, err)
			continue
		}
		if v, why := policy.New(policy.Default, rules...).Judge(t.Context(), shell(engine.Plain, "ls")); strings.HasPrefix(text, "deny") && (v != engine.Deny || !strings.Contains(why.Text, "no. The rule at p.toml:1") || why.Rule.Line != 1 || why.Rule.File != "p.toml" || why.Rule.Tier != "user") {
			t.Errorf("%s: %+v", text, why)
		}
	}
	for text, want := range map[string]string{
		`deny_message = 1`:              "5:1: deny_message must be a string",
		`denyMessage = ""`:              "5:1: denyMessage must not be empty",
		`allowRedirection = 1`:          "5:1: allowRedirection must be true or false",
		`allow_redirection = "x"`:       "5:1: allow_redirection must be true or false",
		`name = 1`:                      "5:1: name must be a string",
		`description = []`:              "5:1: description must be a string",
		`subagent = 1`:                  "5:1: subagent must be a string",
		`modes = ["yolo", ""]`:          "5:1: modes must be a string or a list of strings",
		`toolKind = "write"`:            "5:1: toolKind can be converse, edit, execute",
		`toolAnnotations = {}`:          "5:1: toolAnnotations must be a table such as",
		`toolAnnotations = 1`:           "5:1: toolAnnotations must be a table such as",
		`toolAnnotations = { a = [1] }`: "5:1: toolAnnotations.a must be a string, a number",
		`commandRegex = '` + strings.Repeat("a", 2049) + `'`: "5:1: commandRegex is longer than 2048 characters",
		`argsPattern = "["`:                                 "5:1: argsPattern is no regular expression that gemline understands: missing closing ]",
		`commandPrefix = ["a", "b*"]`:                       `5:1: "b*" holds '*'`,
		"commandPrefix = \"a\"\nargsPattern = \"b\"":        "6:1: of commandPrefix, commandRegex, argsPattern, commandLine and target a rule can have one",
		"commandPrefix = \"a\"\ncommandRegex = \"b\"":       "6:1: of commandPrefix",
		"commandLine = \"a\"":                               "5:1: commandLine is for rules that allow",
		"target = \"a\"":                                    "5:1: target is for rules that allow",
		"directory = \"a\"":                                 "5:1: directory must be an absolute path",
		"directory = \"/a\"":                                "5:1: directory says where a commandLine runs",
		"commandSafe = false":                               "5:1: commandSafe can only be true",
		"\"a=b\" = 1\ny = 1":                                `5:1: "a=b" is not a key of a rule`,
		"y = 1\n'a=b' = 1":                                  `6:1: "a=b" is not a key of a rule`,
		`denyMessages = "x"`:                                `5:1: "denyMessages" is not a key of a rule; did you mean denyMessage?`,
		`deny-message = "x"`:                                `5:1: "deny-message" is not a key of a rule; did you mean denyMessage?`,
		`mode = "yolo"`:                                     `5:1: "mode" is not a key of a rule; did you mean modes?`,
		`frob = "yolo"`:                                     `5:1: "frob" is not a key of a rule`,
		"\"na.me\" = \"yolo\"":                              `5:1: "na.me" is not a key of a rule`,
		"'x' = 1":                                           `5:1: "x" is not a key of a rule`,
		"  \"x\"  = 1":                                      `5:3: "x" is not a key of a rule`,
		"toolAnnotations.a = [1]":                           "5:1: toolAnnotations.a must be",
		"name = \"a # ' \\\" b\" # c\n y = 1":               `6:2: "y" is not a key of a rule`,
		"name = 'a \\' # ' \n\ty = 1":                       `6:2: "y" is not a key of a rule`,
		"name = \"\"\"a\n\"\"b\\\"\"\"\"\n\n\ny = 1":        `9:1: "y" is not a key of a rule`,
		"name = '''a\ny = [\n'''''\ny = 1":                  `8:1: "y" is not a key of a rule`,
		"modes = [ # no ] yet\n  \"yolo\", # ]\n]\ny = 1":   `8:1: "y" is not a key of a rule`,
		"modes = [\"y]\", 'x]',\n\"z\"]":                    "5:1: modes can be",
		"toolAnnotations = { a = \"}\" }\ny = 1":            `6:1: "y" is not a key of a rule`,
		"[rule.toolAnnotations]\na = true\n[[rule]]\ny = 1": `8:1: "y" is not a key of a rule`,
		"[rule.toolAnnotations]\na = [1]":                   "5:1: toolAnnotations.a must be",
		"[[rule.modes]]\na = 1":                             "modes must be a string",
		"name = \"x\"\n[other]\na = 1":                      `6:1: "other" is not understood`,
		"name = \"x\"\n['other'] # c\na = 1":                `6:1: "other" is not understood`,
	} {
		if got := complaints(rule + text); !strings.Contains(got, want) {
			t.Errorf("%.60q: %s\nwant %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"\nother = 1\n":         `2:1: "other" is not understood`,
		"other.x = 1\n":         `1:1: "other" is not understood`,
		" [other]\n[other.a]\n": `1:2: "other" is not understood`,
		"[[rule]]\ntoolName=\"glob\"\ndecision=\"deny\"\npriority=1\ncommandSafe=true": "2:1: commandSafe is about run_shell_command",
		"rule = [1]":                            "1:1: rule must be a table",
		"rule = [{toolName = \"*\"}]":           "1:1: the rule lacks decision",
		"# x\nrule = [{}]":                      "2:1: the rule lacks toolName; it says nothing, and is passed over",
		"rule = {}":                             "1:1: the rule lacks toolName; it says nothing",
		strings.Repeat(" ", 1<<20+1):            "p.toml: is too large",
		"# [[[\nx = " + strings.Repeat("[", 41): "2:1: is nested deeper than any rule is",
		"x = " + strings.Repeat("[", 40) + strings.Repeat("]", 40):                       `1:1: "x" is not understood`,
		strings.Repeat("x = [[1]]\n", 51):                                                "2:",
		"a = 1\na = 2":                                                                   "p.toml:2:7: ",
		"a = \"\\q\"":                                                                    "1:",
		"[[rule]]\ntoolName=\"a*\"\ndecision=\"deny\"\npriority=1":                       `2:1: "a*" is no pattern`,
		"[[rule]]\ntoolName=\"mcp_*x\"\ndecision=\"deny\"\npriority=1":                   `2:1: "mcp_*x" is no pattern`,
		"[[rule]]\ntoolName=\"*x\"\ndecision=\"deny\"\npriority=1":                       `2:1: "*x" is no pattern`,
		"[[rule]]\ntoolName=\"glob\"\ndecision=\"deny\"\npriority=-1":                    "4:1: priority must be",
		"[[rule]]\ntoolName=\"glob\"\ndecision=\"deny\"\npriority=1\ncommandRegex=\"a\"": "2:1: commandPrefix and commandRegex are about run_shell_command",
	} {
		if got := complaints(text); !strings.Contains(got, want) {
			t.Errorf("%.60q: %s\nwant %s", text, got, want)
		}
	}
	if rules, _, err := policy.Parse("p.toml", policy.User, []byte(strings.Repeat(" ", 1<<20))); err != nil || rules != nil {
		t.Error(rules, err)
	}
	inline := "rule = [{toolName = \"glob\", decision = \"deny\", priority = 1}, {toolName = \"ls\", decision = \"deny\", priority = 1}]"
	if rules, _, err := policy.Parse("p.toml", policy.User, []byte(inline)); err != nil || len(rules) != 2 || rules[1].Origin.Line != 1 {
		t.Error(rules, err)
	}
}

// A denial tells what of a script is meant, and by which rule.
func TestReasons(t *testing.T) {
	const rule = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n"
	for _, c := range []struct {
		rules, script string
		class         engine.Class
		want          string
	}{
		{rule + "commandPrefix = \"rm\"\n", "ls | sudo: rm x | rm y", engine.Plain, `The rule at p.toml:1 (user tier) denies "rm x"; only the user can change it.`},
		{rule + "commandPrefix = \"rm\"\ndenyMessage = \"Not {tool}!\"\n", "rm x", engine.Plain, `Not run_shell_command! The rule at p.toml:1 (user tier) denies "rm x"; only the user can change it.`},
		{rule, "rm x", engine.Plain, `The rule at p.toml:1 (user tier) denies "rm x"; only the user can change it.`},
		{rule + "commandPrefix = \"rm\"\ndenyMessage = \"Not {tool}!\"\n", "$x", engine.Opaque, `This may run a program that was not checked (odd), and there is a rule that denies commands. The rule at p.toml:1 (user tier) denies "run_shell_command"; only the user can change it.`},
	} {
		q := shell(c.class, c.script)
		if c.class != engine.Plain {
			q.Intent.Plan.Why = "odd"
		}
		e := policy.New(policy.Yolo, parse(t, policy.User, c.rules)...).Explain(q)
		if e.Reason != c.want {
			t.Errorf("%s: %q\nwant %q", c.script, e.Reason, c.want)
		}
		if _, reason := policy.New(policy.Yolo, parse(t, policy.User, c.rules)...).Judge(t.Context(), shell(engine.Plain, "rm x")); reason.Rule == nil || reason.Rule.Line != 1 {
			t.Errorf("%s: %+v", c.rules, reason)
		}
		if e.Command != "" || e.Inside != "" {
			t.Errorf("%+v", e.Ruling)
		}
	}
	if _, reason := policy.New(policy.Yolo).Judge(t.Context(), shell(engine.Plain, "ls")); reason != (engine.Reason{}) {
		t.Errorf("what is allowed: %+v", reason)
	}
	e := policy.New(policy.Plan).Explain(shell(engine.Plain, "ls"))
	if !strings.HasPrefix(e.Reason, "Plan mode is read-only. ") || strings.Contains(e.Reason, "The rule at") {
		t.Error(e.Reason)
	}
	e = policy.New(policy.Default, parse(t, policy.User, allowGit)...).Explain(shell(engine.Readable, "sudo git | sudo: git log"))
	if len(e.Commands) != 2 || e.Commands[1].Inside != "sudo" || e.Commands[1].Command != "git log" || e.Commands[1].Rule.Origin.Line != 2 || e.Why != "only plain commands run unasked, and this one is not plain" || e.Class != "readable" {
		t.Errorf("%+v", e)
	}
}

// What the user said "always" to holds against the program's own rules and
// against what was kept, and not against rules that weigh more.
func TestSaid(t *testing.T) {
	q := engine.Proposal{Tool: named("write_file", engine.Edit), Intent: engine.Intent{Grants: []engine.Grant{{Tool: "write_file", Target: "a", Label: "offered so"}}}}
	rule := func(priority string) string {
		return "[[rule]]\ntoolName = \"write_file\"\ndecision = \"ask_user\"\npriority = " + priority + "\n"
	}
	for _, c := range []struct {
		tier policy.Tier
		rule string
		want engine.Verdict
	}{
		{policy.User, "", engine.Allow}, {policy.User, rule("950"), engine.Allow}, {policy.User, rule("951"), engine.Ask}, {policy.Admin, rule("0"), engine.Ask}, {policy.Project, rule("999"), engine.Allow},
	} {
		p := policy.New(policy.Default, parse(t, c.tier, c.rule)...)
		if err := p.Learn(engine.Grant{Tool: "write_file", Target: "a", Label: "learned so"}, engine.Session); err != nil {
			t.Fatal(err)
		}
		if got, _ := p.Judge(t.Context(), q); got != c.want {
			t.Errorf("%s %s: %s", c.tier, c.rule, policy.VerdictName(got))
		}
	}
	both := slices.Concat(parse(t, policy.User, rule("951")), parse(t, policy.Project, rule("0")))
	p := policy.New(policy.Default, both...)
	if err := p.Learn(engine.Grant{Tool: "write_file", Target: "a"}, engine.Session); err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Judge(t.Context(), q); got != engine.Ask {
		t.Error("a project's rule takes the place of a stronger one:", policy.VerdictName(got))
	}
}

// A call of the shell of which no command is known is asked about.
func TestNoCommands(t *testing.T) {
	q := shell(engine.Plain, "ls")
	q.Intent.Plan.Commands = nil
	if got, _ := policy.New(policy.Default, parse(t, policy.User, allowGit)...).Judge(t.Context(), q); got != engine.Ask {
		t.Error(policy.VerdictName(got))
	}
	if e := policy.New(policy.Default).Explain(shell(engine.Readable, "ls")); e.Verdict != engine.Ask || e.Why != "" {
		t.Errorf("%+v", e)
	}
}
