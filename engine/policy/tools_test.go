package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// Names that come near to a tool's, and those that are none of ours.
func TestNear(t *testing.T) {
	for name, want := range map[string]string{"globe": "glob", "glo": "", "gl": "", "invoke_agen": "invoke_agent", "invoke_agent": "", "web_fetsh": "web_fetch", "xxb_fetch": "web_fetch", "xxxxfetch": "", "shel": "",
		"run_shell_command_*": "!", "LSToo": "", "write_flie": "write_file", "run_shel_command": "run_shell_command", "run_shell": "run_shell_command", "write": "write_file", "write_file": "", "ShellTool": "",
		"ask_user": "", "mcp_x_write_file": "", "deploy_everything": "", "*": "", "hub__search": "mcp_hub_search", "mcp__hub__search_it": "mcp_hub_search_it", "mcp_hub_search": "", "__a": "", "a__": ""} {
		rules, warnings, err := policy.Parse("p.toml", policy.User, []byte("[[rule]]\ntoolName = \""+name+"\"\ndecision = \"deny\"\npriority = 1\n"))
		if want == "!" {
			if len(warnings) != 1 || !strings.Contains(warnings[0], "is no pattern") {
				t.Errorf("%s: %v %v", name, rules, warnings)
			}
			continue
		}
		if got := strings.Join(warnings, ""); err != nil || (got != "") != (want != "") || want != "" && !strings.Contains(got, "did you mean "+want+"?") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	_, warnings, err := policy.Parse("p.toml", policy.User, []byte("[[rule]]\ntoolName = \"write_flie\"\nmcpName = \"hub\"\ndecision = \"deny\"\npriority = 1\n"))
	if warnings != nil || err != nil {
		t.Error("a server's tools have names of their own:", warnings, err)
	}
	rules, _, err := policy.Parse("p.toml", policy.User, []byte("[[rule]]\ntoolName = \"sea*h\"\nmcpName = \"hub\"\ndecision = \"deny\"\npriority = 1\n"))
	for name, want := range map[string]engine.Verdict{"search": engine.Deny, "searches": engine.Allow} {
		tool := named("mcp_hub_"+name, engine.Other)
		tool.Server, tool.ServerTool = "hub", name
		if got, _ := policy.New(policy.Yolo, rules...).Judge(t.Context(), engine.Proposal{Tool: tool}); err != nil || got != want {
			t.Errorf("%s of a server whose tools like sea*h are denied: %s, %v", name, policy.VerdictName(got), err)
		}
	}
}

// Tools that a command discovered have a pattern of their own.
func TestDiscovered(t *testing.T) {
	p := policy.New(policy.Yolo, parse(t, policy.User, "[[rule]]\ntoolName = \"discovered_tool_*\"\ndecision = \"deny\"\npriority = 1\n")...)
	for name, want := range map[string]engine.Verdict{"discovered_tool_x": engine.Deny, "discovered": engine.Allow, "glob": engine.Allow} {
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: named(name, engine.Other)}); got != want {
			t.Errorf("%s: %s", name, policy.VerdictName(got))
		}
	}
}

// Arguments that a tool declares, in either form of a declaration.
func TestDeclared(t *testing.T) {
	allow := parse(t, policy.User, "[[rule]]\ntoolName = \"x\"\nargsPattern = '^\\{\\x00\"a\":\"<&>\"\\x00(,\\x00\"b\":1\\x00)?\\}$'\ndecision = \"allow\"\npriority = 1\n")
	for name, c := range map[string]struct {
		declaration *genai.FunctionDeclaration
		args        map[string]any
		want        engine.Verdict
	}{
		"as a schema": {&genai.FunctionDeclaration{Name: "x", Parameters: &genai.Schema{Properties: map[string]*genai.Schema{"a": {}}}}, map[string]any{"a": "<&>"}, engine.Allow},
		"as JSON":     {&genai.FunctionDeclaration{Name: "x", ParametersJsonSchema: map[string]any{"properties": map[string]any{"a": true, "b": true}}}, map[string]any{"a": "<&>", "b": 1}, engine.Allow},
		"one is not":  {&genai.FunctionDeclaration{Name: "x", ParametersJsonSchema: map[string]any{"properties": map[string]any{"a": true}}}, map[string]any{"a": "<&>", "b": 1}, engine.Ask},
		"no schema":   {&genai.FunctionDeclaration{Name: "x", ParametersJsonSchema: func() {}}, map[string]any{"a": "<&>"}, engine.Ask},
		"no object":   {&genai.FunctionDeclaration{Name: "x", ParametersJsonSchema: []any{1}}, map[string]any{"a": "<&>"}, engine.Ask},
		"no JSON":     {&genai.FunctionDeclaration{Name: "x", ParametersJsonSchema: map[string]any{"properties": map[string]any{"a": true}}}, map[string]any{"a": func() {}}, engine.Ask},
	} {
		if got, _ := policy.New(policy.Default, allow...).Judge(t.Context(), engine.Proposal{Tool: engine.Tool{Declaration: c.declaration}, Args: c.args}); got != c.want {
			t.Errorf("%s: %s", name, policy.VerdictName(got))
		}
	}
}

// Whether a tool is offered: if some call of it may run.
func TestOffers(t *testing.T) {
	rule := func(decision, rest string) string {
		return "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"" + decision + "\"\npriority = 1\n" + rest
	}
	for _, c := range []struct {
		tier  policy.Tier
		rules string
		mode  policy.Mode
		want  bool
	}{
		{policy.User, "", policy.Default, true},
		{policy.User, "", policy.Plan, false},
		{policy.User, rule("allow", ""), policy.Plan, false},
		{policy.User, rule("deny", ""), policy.Yolo, false},
		{policy.User, rule("deny", "commandPrefix = \"rm\"\n"), policy.Yolo, true},
		{policy.User, rule("deny", "commandRegex = \"rm\"\n"), policy.Yolo, true},
		{policy.User, rule("deny", "commandUndoable = true\n"), policy.Yolo, true},
		{policy.User, rule("deny", "argsPattern = \"rm\"\n"), policy.Yolo, true},
		{policy.User, rule("deny", "modes = \"yolo\"\n"), policy.Default, true},
		{policy.Project, rule("deny", ""), policy.Default, false},
		{policy.Project, rule("ask_user", ""), policy.Default, true},
		{policy.Project, rule("ask_user", "") + rule("deny", ""), policy.Default, false},
		{policy.Project, rule("deny", "commandPrefix = \"rm\"\n"), policy.Default, true},
	} {
		if got := policy.New(c.mode, parse(t, c.tier, c.rules)...).Offers(named(policy.Shell, engine.Execute)); got != c.want {
			t.Errorf("%s, %s: offered: %t; rules:\n%s", c.tier, c.mode, got, c.rules)
		}
	}
	core, wrong := policy.Lists{Core: []string{"run_shell_command(git)"}}.Rules(policy.User, "s")
	if wrong != nil || !policy.New(policy.Default, core...).Offers(named(policy.Shell, engine.Execute)) {
		t.Error("tools.core", wrong)
	}
	if !policy.New(policy.Plan).Offers(named("glob", engine.Search)) {
		t.Error("what looks is not offered in plan mode")
	}
}

// In plan mode a tool that changes something is not offered, whatever is
// allowed and confined; and the shell only while something confines commands.
func TestOffersInPlanMode(t *testing.T) {
	const write = "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 1\n"
	p := policy.New(policy.Plan, parse(t, policy.User, write)...)
	confined := true
	p.Confined = func() bool { return confined }
	if p.Offers(named("write_file", engine.Edit)) || !p.Offers(named(policy.Shell, engine.Execute)) {
		t.Error("what is offered while commands are confined")
	}
	plans := policy.New(policy.Plan)
	plans.Plans = func(string) bool { return true }
	if g, _ := policy.Guard(plans, nil, policy.GuardedFiles{}); !g.Offers(named("write_file", engine.Edit)) || g.Offers(named("deploy", engine.Other)) {
		t.Error("what is offered where plans can be written")
	}
	const denies = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n"
	q := policy.New(policy.Plan, parse(t, policy.User, denies)...)
	q.Confined = p.Confined
	if q.Offers(named(policy.Shell, engine.Execute)) {
		t.Error("the shell is offered, though a rule denies it")
	}
	if !p.Offers(named("exit_plan_mode", engine.Planning)) {
		t.Error("planning has no end")
	}
	confined = false
	if p.Offers(named(policy.Shell, engine.Execute)) {
		t.Error("the shell is offered while nothing confines commands")
	}
}

// A rule about an agent is also about the tool that calls it, and about no
// other call of that tool.
func TestAgents(t *testing.T) {
	rules := parse(t, policy.User, "[[rule]]\ntoolName = \"scout\"\ndecision = \"deny\"\npriority = 1\n")
	p := policy.New(policy.Yolo, rules...)
	call := named("invoke_agent", engine.Other)
	hub := named("mcp_hub_invoke_agent", engine.Other)
	hub.Server = "hub"
	for _, c := range []struct {
		tool  engine.Tool
		agent any
		want  engine.Verdict
	}{
		{call, "scout", engine.Deny},
		{call, "other", engine.Allow},
		{call, nil, engine.Allow},
		{call, 5, engine.Allow},
		{named("glob", engine.Search), "scout", engine.Allow},
		{hub, "scout", engine.Allow},
	} {
		if got, _ := p.Judge(t.Context(), engine.Proposal{Tool: c.tool, Args: map[string]any{"agent_name": c.agent}}); got != c.want {
			t.Errorf("%s %v: %s", c.tool.Name(), c.agent, policy.VerdictName(got))
		}
	}
	if !p.Offers(call) {
		t.Error("no agent can be called")
	}
}

// What the Gemini CLI's sandbox may do stands among the files of rules, and is
// none. It is passed over, unless it holds commands more than gemline would.
func TestSandboxFile(t *testing.T) {
	const modes = "[modes.plan]\nreadonly = true\n[modes.default]\nnetwork = false\nreadonly = false\n[commands.npm]\nallow_network = true\n"
	const told = "is about the sandbox of the Gemini CLI, and passed over"
	for _, c := range []struct{ name, file, text, warning, err string }{
		{"as it is written", "sandbox.toml", modes, told, ""},
		{"of commands alone", "dir/sandbox.toml", "[commands.npm]\nallowed_paths = [\"/x\"]\n", told, ""},
		{"one that reads only", "sandbox.toml", modes + "[modes.accepting_edits]\nreadonly = true\n", "", "sandbox.toml:9:1: commands that only read"},
		{"under another name", "box.toml", modes, "box.toml:6:1: \"commands\" is not understood, and passed over", ""},
		{"with something else", "sandbox.toml", modes + "[other]\n", "sandbox.toml:6:1: \"commands\" is not understood, and passed over", ""},
		{"with rules", "sandbox.toml", modes + "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n", "sandbox.toml:6:1: \"commands\" is not understood, and passed over", ""},
		{"rules", "sandbox.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n", "", ""},
		{"nothing", "sandbox.toml", "", "", ""},
	} {
		rules, warnings, err := policy.Parse(c.file, policy.User, []byte(c.text))
		if got := strings.Join(warnings, ""); (got != "") != (c.warning != "") || !strings.Contains(got, c.warning) || (len(rules) > 0) != strings.Contains(c.text, "[[rule]]") {
			t.Errorf("%s: %q %v", c.name, got, rules)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %v, want %s", c.name, err, c.err)
		}
	}
}

// A rule about a path is about the place: who allows a directory allows nothing that .. or a
// link leads to, and who denies one denies it by whatever path.
func TestPlaces(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "src"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	linked := filepath.Join(outside, "root")
	above := filepath.Join(t.TempDir(), "above")
	for link, to := range map[string]string{above: filepath.Dir(root), filepath.Join(root, "docs", "self"): root, filepath.Join(root, "docs", "link"): filepath.Join(root, "src"), filepath.Join(root, "docs", "out"): outside,
		filepath.Join(root, "docs", "away"): outside, linked: root} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	about := func(dir, decision string) string {
		return "[[rule]]\ntoolName = \"write_file\"\nargsPattern = '\"file_path\":\"" + dir + "/'\ndecision = \"" + decision + "\"\npriority = 1\n"
	}
	absolute := filepath.ToSlash(root) + "/"
	alias := filepath.ToSlash(filepath.Join(above, filepath.Base(root))) + "/"
	for _, path := range []string{"src", "src/", "./src", "docs/link", absolute + "src"} {
		p := policy.New(policy.Default, parse(t, policy.User, "[[rule]]\ntoolName = \"glob\"\nargsPattern = '\"dir_path\":\"src/'\ndecision = \"deny\"\npriority = 1\n")...)
		p.Roots = func() []string { return []string{root} }
		at := filepath.FromSlash(path)
		if !filepath.IsAbs(at) {
			at = filepath.Join(root, at)
		}
		q := engine.Proposal{Tool: named("glob", engine.Search), Args: map[string]any{"dir_path": path}, Intent: engine.Intent{Paths: []string{at}}}
		if got, _ := p.Judge(t.Context(), q); got != engine.Deny {
			t.Errorf("listing %s: %s", path, policy.VerdictName(got))
		}
	}
	for path, want := range map[string]engine.Verdict{
		"docs/a": engine.Allow, "docs/sub/a": engine.Allow, "./docs/a": engine.Allow, "docs/../docs/a": engine.Allow, absolute + "docs/a": engine.Ask,
		"docs/../a": engine.Ask, "docs/./../a": engine.Ask, absolute + "docs/../a": engine.Ask, "a": engine.Ask,
		"src/a": engine.Deny, "./src/a": engine.Deny, "docs/../src/a": engine.Deny, "docs/link/a": engine.Deny, absolute + "src/a": engine.Deny, absolute + "docs/link/a": engine.Deny,
		"docs/away/a": engine.Ask, "docs/out/a": engine.Deny, "./docs/out/a": engine.Deny,
		"../" + filepath.Base(outside) + "/in/a": engine.Allow, "../" + filepath.Base(outside) + "/a": engine.Ask,
		alias + "docs/a": engine.Allow, alias + "docs/self/a": engine.Ask, "docs/self/a": engine.Ask, alias + "docs/../a": engine.Ask, alias + "src/a": engine.Deny,
		absolute + "abs/a": engine.Allow, absolute + "./abs/a": engine.Allow, absolute + "abs/../a": engine.Ask, "abs/a": engine.Ask,
	} {
		rules := parse(t, policy.User, about("docs", "allow")+about("src", "deny")+about("docs/out", "deny")+about(absolute+"abs", "allow")+
			about("../"+filepath.Base(outside)+"/in", "allow")+about(alias+"docs", "allow"))
		for _, root := range []string{root, linked} {
			p := policy.New(policy.Default, rules...)
			p.Roots = func() []string { return []string{root, outside} }
			at := filepath.FromSlash(path)
			if !filepath.IsAbs(at) {
				at = filepath.Join(root, at)
			}
			tool := engine.Tool{Kind: engine.Edit, Declaration: &genai.FunctionDeclaration{Name: "write_file",
				ParametersJsonSchema: map[string]any{"properties": map[string]any{"file_path": true}}}}
			q := engine.Proposal{Tool: tool, Args: map[string]any{"file_path": path}, Intent: engine.Intent{Paths: []string{filepath.Clean(at)}}}
			if got, _ := p.Judge(t.Context(), q); got != want {
				t.Errorf("%s below %s: %s", path, root, policy.VerdictName(got))
			}
			user := et.NewApprover(t, engine.Refused{})
			q.Intent.Grants = []engine.Grant{{Tool: "edit", Target: at}}
			if _, err := p.OfferRules(user, false).Approve(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			kept := policy.New(policy.Default, parse(t, policy.User, user.Proposals()[0].Intent.Grants[0].Rule)...)
			kept.Roots = p.Roots
			if got, _ := kept.Judge(t.Context(), q); got != engine.Allow {
				t.Errorf("%s below %s: what is kept does not allow it", path, root)
			}
			q.Intent.Paths = []string{filepath.Join(root, "found", filepath.FromSlash(path))} // by a search
			if got, _ := p.Judge(t.Context(), q); got == engine.Allow {
				t.Errorf("%s below %s: allowed elsewhere", path, root)
			}
		}
	}
}
