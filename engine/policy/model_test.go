package policy_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
)

// A saying is a rule as the model has it: "" and nil say nothing.
type saying struct {
	tier                              policy.Tier
	tool, kind, agent, server, hint   string
	prefix, regex, args, mode, decide string
	alone                             *bool
	safe, network                     bool
	priority                          int
}

// text is the saying as a rule of a file.
func (s saying) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[[rule]]\ntoolName = %q\ndecision = %q\npriority = %d\n", s.tool, s.decide, s.priority)
	for _, kv := range [][2]string{{"toolKind", s.kind}, {"subagent", s.agent}, {"mcpName", s.server}, {"commandPrefix", s.prefix}, {"commandRegex", s.regex}, {"argsPattern", s.args}} {
		if kv[1] != "" {
			fmt.Fprintf(&b, "%s = %q\n", kv[0], kv[1])
		}
	}
	if s.mode != "" {
		fmt.Fprintf(&b, "modes = [%q]\n", s.mode)
	}
	if s.hint != "" {
		fmt.Fprintf(&b, "toolAnnotations = { readOnlyHint = %s }\n", s.hint)
	}
	if s.safe {
		b.WriteString("commandSafe = true\n")
	}
	if s.network {
		b.WriteString("network = true\n")
	}
	if s.alone != nil {
		fmt.Fprintf(&b, "interactive = %t\n", !*s.alone)
	}
	return b.String()
}

// A world is what sayings are looked at in.
type world struct {
	engine.Proposal
	mode  policy.Mode
	alone bool
}

// safe reports whether a command is, or every one of the call.
func (w world) safe(c *engine.Command) bool {
	ok := w.Tool.Name() == policy.Shell && w.Intent.Plan.Confined && w.Intent.Plan.Class == engine.Plain && w.Intent.Plan.Rights.Empty()
	for _, other := range w.Intent.Plan.Commands {
		ok = ok && (c != nil || other.Safe)
	}
	return ok && (c == nil || c.Safe)
}

// about reports whether s is about the call, or about one of its commands.
func (s saying) about(w world, c *engine.Command) bool {
	name := w.Tool.Name()
	named := s.tool == "*" || s.tool == name || s.tool == "ShellTool" && name == policy.Shell
	if server := w.Tool.Server; server != "" {
		bare := strings.TrimPrefix(name, "mcp_"+server+"_")
		named = s.tool == "*" || s.tool == "mcp_*" || s.tool == "mcp_"+server+"_*" || s.tool == name || s.server != "" && s.tool == bare
	} else if s.server != "" {
		return false
	}
	modes := map[string]policy.Mode{"default": policy.Default, "yolo": policy.Yolo, "plan": policy.Plan, "autoEdit": policy.AutoEdit, "auto": policy.Auto}
	switch {
	case !named, s.server != "" && s.server != "*" && s.server != w.Tool.Server:
		return false
	case s.kind != "" && s.kind != w.Tool.Kind.String(), s.agent != "" && s.agent != w.Agent, s.mode != "" && modes[s.mode] != w.mode,
		s.alone != nil && *s.alone != w.alone, s.hint != "" && w.Tool.Annotations["readOnlyHint"] != (s.hint == "true"):
		return false
	}
	exactly, asks := s.decide == "allow", w.Intent.Plan.Rights
	if s.tier == policy.BuiltIn && s.network {
		if asks.Protected || len(asks.Read) > 0 { // commands stay held
			return false
		}
	} else if exactly && (asks.Network && !s.network || asks.HasPaths()) || !exactly && s.network && !asks.Network {
		return false
	}
	if s.safe && !w.safe(c) {
		return false
	}
	if s.args != "" {
		return s.found(w, c, exactly)
	}
	if s.prefix == "" && s.regex == "" {
		return true
	}
	if c == nil || len(c.Argv) == 0 {
		return false
	}
	line := c.String()
	if exactly {
		if len(c.Env) > 0 || len(c.Words()) < len(c.Argv) {
			return false
		}
		return s.prefix != "" && strings.HasPrefix(line+" ", s.prefix+" ") || s.regex != "" && regexp.MustCompile("^("+s.regex+")( |$)").MatchString(line)
	}
	program, known := c.Program()
	program = strings.TrimSuffix(strings.ToLower(program), ".exe")
	var words []string
	for _, w := range c.Argv[1:] {
		words = append(words, w.Text)
	}
	if s.regex != "" {
		re := regexp.MustCompile("^(" + s.regex + ")")
		return re.MatchString(line) || re.MatchString(program+" "+strings.Join(words, " ")) || re.MatchString(strings.Join(append([]string{c.Argv[0].Text}, words...), " "))
	}
	first, second, two := strings.Cut(s.prefix, " ")
	if !known || program != first {
		return false
	}
	if !two {
		return true
	}
	// Options, and a word behind one, may stand in between.
	pattern := regexp.MustCompile(`^(-\S+ ([^-$]\S* )?)*(\$\S+|` + regexp.QuoteMeta(second) + `) `)
	return pattern.MatchString(strings.Join(words, " ")+" ") || slices.Contains(words, second) && pattern.MatchString(skipOne(words, second))
}

// skipOne is for words of which one is an option's value, and yet the one that
// is looked for.
func skipOne(words []string, second string) string {
	i := slices.Index(words, second)
	if i > 0 && !strings.HasPrefix(words[i-1], "-") {
		return ""
	}
	return strings.Join(words[i:], " ") + " "
}

// found reports whether the pattern is in the arguments.
func (s saying) found(w world, c *engine.Command, exactly bool) bool {
	args := map[string]string{}
	for k, v := range w.Args {
		args[k] = v.(string)
	}
	if c != nil {
		var words []string
		for _, w := range c.Argv {
			words = append(words, quotedWord(w))
		}
		args["command"] = strings.Join(words, " ")
	}
	write := func(only ...string) string {
		var pairs []string
		for _, k := range []string{"command", "extra", "file_path"} {
			if v, ok := args[k]; ok && (only == nil || slices.Contains(only, k)) {
				pairs = append(pairs, "\x00"+strconv.Quote(k)+":"+strconv.Quote(v)+"\x00")
			}
		}
		return "{" + strings.Join(pairs, ",") + "}"
	}
	re := regexp.MustCompile(s.args)
	_, extra := args["extra"]
	if exactly {
		return !extra && re.MatchString(write())
	}
	return re.MatchString(write()) || re.MatchString(write("command", "file_path"))
}

func quotedWord(w engine.Word) string {
	if w.Known && strings.ContainsAny(w.Text, " *") {
		return "'" + w.Text + "'"
	}
	return w.Text
}

// byDefault reports whether s denies what no other rule says more of.
func (s saying) byDefault() bool {
	all := s.tool == "*" || s.tool == "mcp_*"
	return s.decide == "deny" && (s.tier == policy.User || s.tier == policy.Admin) && all &&
		(s.server == "" || s.server == "*") && s.prefix+s.regex+s.args == "" && !s.safe && !s.network
}

// ranked returns what the strongest of the sayings decides, and which it is; "" if there is
// none.
func ranked(all []saying, w world, c *engine.Command) (decide string, by saying) {
	strict := []string{"allow", "ask_user", "deny"}
	best := -1
	for _, s := range all {
		if !s.about(w, c) {
			continue
		}
		rank := (int(s.tier)*1000+s.priority)*10 + slices.Index(strict, s.decide)
		if rank > best || rank == best && s.args != "" {
			best, decide, by = rank, s.decide, s
		}
	}
	return decide, by
}

// one is the verdict about a call, or one command: as docs/policy.md puts it.
func one(all []saying, w world, c *engine.Command) (decide string, by saying) {
	pick := func(keep func(s saying) bool) []saying {
		return slices.DeleteFunc(slices.Clone(all), func(s saying) bool { return !keep(s) })
	}
	project := func(s saying) bool { return s.tier == policy.Project || s.tier == policy.Extension }
	first := func(s saying) bool {
		return s.decide == "deny" && (s.tier == policy.User || s.tier == policy.Admin) && !s.byDefault()
	}
	if d, by := ranked(pick(first), w, c); d != "" {
		return d, by
	}
	looks := slices.Contains([]engine.Kind{engine.Read, engine.Search, engine.Think, engine.AskUser}, w.Tool.Kind)
	if w.mode == policy.Plan && !looks && !w.safe(c) {
		return "deny", saying{}
	}
	decide, by = ranked(pick(func(s saying) bool { return !project(s) }), w, c)
	for _, want := range []string{"ask_user", "deny"} { // what projects narrow
		for _, s := range all {
			if project(s) && s.decide == want && s.about(w, c) && (decide == "allow" || want == "deny") && decide != want {
				decide, by = want, s
			}
		}
	}
	return decide, by
}

// verdict is what becomes of a call.
func verdict(all []saying, w world) string {
	whole, by := one(all, w, nil)
	worst, opaque := "allow", w.Intent.Plan.Class == engine.Opaque
	if w.Tool.Name() != policy.Shell || whole == "deny" && (opaque || !by.byDefault()) {
		return whole
	}
	note := func(decide string) {
		if strict := []string{"allow", "ask_user", "deny"}; slices.Index(strict, decide) > slices.Index(strict, worst) {
			worst = decide
		}
	}
	for _, c := range w.Intent.Plan.Commands {
		decide, _ := one(all, w, &c)
		note(decide)
		opaque = opaque || !c.Argv[0].Known
	}
	if by.args != "" || opaque && by.byDefault() {
		note(whole)
	}
	if worst == "deny" {
		return worst
	}
	if opaque && slices.ContainsFunc(all, func(s saying) bool {
		bare := s
		bare.prefix, bare.regex, bare.args, bare.safe = "", "", "", false
		return s.decide == "deny" && bare != s && bare.about(w, nil)
	}) {
		return "deny"
	}
	if worst == "allow" && w.Intent.Plan.Class != engine.Plain && w.mode != policy.Yolo {
		return "ask_user"
	}
	return worst
}

// standing are the rules that come with the program.
var standing = []saying{
	{tier: policy.BuiltIn, tool: "*", kind: "read", decide: "allow", priority: 50},
	{tier: policy.BuiltIn, tool: "*", kind: "converse", decide: "allow", priority: 50},
	{tier: policy.BuiltIn, tool: "*", kind: "converse", alone: new(true), decide: "deny", priority: 999},
	{tier: policy.BuiltIn, tool: "*", kind: "edit", mode: "autoEdit", decide: "allow", priority: 15},
	{tier: policy.BuiltIn, tool: "*", kind: "edit", mode: "auto", decide: "allow", priority: 15},
	{tier: policy.BuiltIn, tool: policy.Shell, safe: true, mode: "auto", decide: "allow", priority: 45},
	{tier: policy.BuiltIn, tool: "*", mode: "plan", decide: "deny", priority: 40},
	{tier: policy.BuiltIn, tool: "*", mode: "yolo", decide: "allow", priority: 998, network: true},
	{tier: policy.BuiltIn, tool: policy.Shell, safe: true, mode: "default", decide: "allow", priority: 45},
	{tier: policy.BuiltIn, tool: policy.Shell, safe: true, mode: "autoEdit", decide: "allow", priority: 45},
	{tier: policy.BuiltIn, tool: policy.Shell, safe: true, mode: "plan", decide: "allow", priority: 45},
	{tier: policy.BuiltIn, tool: policy.Shell, mode: "plan", decide: "deny", priority: 41},
	{tier: policy.BuiltIn, tool: "*", decide: "ask_user", priority: 0},
}

// A maker makes random sayings and calls, of few different things, so that
// they are often about each other.
type maker struct{ *rand.Rand }

func (m maker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) saying(tier policy.Tier) saying {
	s := saying{tier: tier, tool: m.pick("*", "write_file", "run_shell_command", "run_shell_command", "ShellTool"), decide: m.pick("allow", "deny", "ask_user"), priority: m.IntN(3)}
	if tier == policy.Project || tier == policy.Extension {
		s.decide = m.pick("deny", "ask_user")
	}
	switch m.IntN(9) {
	case 0, 1:
		s.tool, s.prefix = policy.Shell, m.pick("git", "git log", "rm", "rm -f", "git push")
	case 2:
		s.tool, s.regex = policy.Shell, m.pick("git", "g.*", "rm .*f", "A=1 rm", "ls|rm")
	case 3, 4:
		s.args = m.pick(`"file_path"`, `git`, `"command":"rm`, "x\"\x00,\x00\"f", "git.*rm", "ls'", "^{\x00\"command\"", "\x00}$", "extra")
	case 5:
		s.tool, s.server = m.pick("*", "mcp_*", "mcp_hub_*", "mcp_hub_find", "find", "mcp_other_*"), m.pick("", "*", "hub", "other")
	case 6:
		s.kind = m.pick("edit", "execute", "read", "other", "converse")
	}
	if m.IntN(8) == 0 {
		s.tool, s.safe = m.pick(policy.Shell, "ShellTool"), true
	}
	s.network = m.IntN(6) == 0
	switch m.IntN(12) {
	case 0, 1:
		s.mode = m.pick("default", "yolo", "plan", "autoEdit")
	case 2:
		s.alone = new(m.IntN(2) == 0)
	case 3:
		s.agent = m.pick("a", "b")
	case 4:
		s.hint = m.pick("true", "false")
	}
	return s
}

func (m maker) world() world {
	w := world{mode: policy.Modes[m.IntN(len(policy.Modes))], alone: m.IntN(2) == 0}
	switch m.IntN(6) {
	case 0:
		w.Tool, w.Args = named("write_file", engine.Edit), map[string]any{"file_path": m.pick("git", "x", "rm"), "command": "x"}
	case 1:
		w.Tool, w.Args = named("mcp_hub_find", engine.Other), map[string]any{"file_path": "git"}
		w.Tool.Server, w.Tool.ServerTool, w.Tool.Annotations = "hub", "find", map[string]any{"readOnlyHint": m.IntN(2) == 0}
	case 2:
		w.Tool, w.Args = named("talk", m.kind()), map[string]any{"command": "git", "extra": m.pick("git", "rm")}
	default:
		w.Proposal = shell(engine.Class(m.IntN(3)), m.pick("git log", "git log -p", "git log | rm -f", "$x", "rm x", "ls", "ls a*", "A=1 rm", "/bin/rm -v -f", "git -C d log", "git -p push", "git -c -f log", "git $x", "RM.exe", "git: rm x", "ls | git push | ls"))
		if m.IntN(5) == 0 {
			w.Args["extra"] = m.pick("git", "rm")
		}
		w.Intent.Plan.Rights = m.rights()
	}
	w.Intent.Plan.Confined = m.IntN(3) > 0
	for i := range w.Intent.Plan.Commands {
		w.Intent.Plan.Commands[i].Safe = m.IntN(3) > 0
	}
	w.Agent = m.pick("", "a", "b")
	return w
}

// rights are what a call asks for beyond what all have, seldom anything.
func (m maker) rights() engine.Rights {
	return [...]engine.Rights{4: {Network: true}, 5: {Network: true}, 6: {Write: []string{"/x"}}, 7: {Read: []string{"/x"}, Network: true}, 8: {Protected: true}}[m.IntN(9)]
}

func (m maker) kind() engine.Kind {
	return []engine.Kind{engine.Read, engine.AskUser, engine.Other}[m.IntN(3)]
}

// A policy judges as the model does, whatever the rules are, in whatever
// order, and offers a tool only if some call of it may run.
func TestPropertiesOfTheModel(t *testing.T) {
	n := et.Rounds(6000, 1_000_000)
	if testing.Short() && !et.Soak() {
		n = 1500
	}
	m := maker{et.Random(t, 3)}
	for range n {
		all := slices.Clone(standing)
		var rules []policy.Rule
		for range m.IntN(7) {
			s := m.saying([]policy.Tier{policy.Extension, policy.Project, policy.User, policy.User, policy.Admin}[m.IntN(5)])
			if other := all[len(all)-1]; m.IntN(3) == 0 && other.tier != policy.BuiltIn { // one much like another
				other.prefix, other.regex, other.args, other.safe = s.prefix, s.regex, s.args, s.safe
				if s.prefix+s.regex != "" || s.safe {
					other.tool = policy.Shell
				}
				s = other
			}
			all = append(all, s)
			rules = append(rules, parse(t, s.tier, s.text())...)
		}
		w := m.world()
		m.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		p := policy.New(w.mode, rules...)
		p.Unattended = w.alone
		p.Confined = func() bool { return w.Intent.Plan.Confined }
		got := p.Explain(w.Proposal)
		if want := verdict(all, w); policy.VerdictName(got.Verdict) != want {
			var text strings.Builder
			for _, s := range all[len(standing):] {
				fmt.Fprintf(&text, "# %s\n%s", s.tier, s.text())
			}
			t.Fatalf("%s, not %s: %q (%s) with %q by %q, mode %s, alone %t\n%+v\n%s", policy.VerdictName(got.Verdict), want, w.Args, w.Intent.Plan.Class, w.Intent.Plan.Rights, w.Agent, w.mode, w.alone, got.Ruling, text.String())
		}
		if (got.Verdict == engine.Deny) != (got.Reason != "") {
			t.Fatalf("%s: %q", policy.VerdictName(got.Verdict), got.Reason)
		}
		if len(got.Commands) > 0 && len(got.Commands) != len(w.Intent.Plan.Commands) {
			t.Fatalf("%+v", got)
		}
		if w.Agent == "" && !p.Offers(w.Tool) && got.Verdict != engine.Deny {
			t.Fatalf("a call of a tool that is not offered may run: %+v", got)
		}
	}
	t.Logf("policy: %d sets of rules, all judged as the model judges", n)
}
