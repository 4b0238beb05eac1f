package policy

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// A question is the subject of rules: a call, or a command that a call would run.
type question struct {
	engine.Proposal
	mode        Mode
	interactive bool
	plans       bool            // it edits plans and nothing else
	command     *engine.Command // nil for the call as a whole
	roots       []string        // the directories of the workspace

	read       bool              // the following fields are set
	known      map[string]string // the declared arguments, each as JSON
	exact      []string          // the arguments as JSON, for rules that allow
	loose      []string          // the same for all other rules
	undeclared bool              // some arguments are not declared by the tool
}

// ask returns the question about a call as a whole.
func (p *Policy) ask(q engine.Proposal) question {
	mode := p.mode
	if !slices.Contains(Modes[:], mode) {
		mode = Default
	}
	u := question{Proposal: q, mode: mode, interactive: !p.Unattended}
	if p.Roots != nil {
		u.roots = p.Roots()
	}
	if paths := q.Intent.Paths; q.Tool.Kind == engine.Edit && p.Plans != nil && !runs(q) && len(paths) > 0 {
		u.plans = !slices.ContainsFunc(paths, func(path string) bool { return !p.Plans(path) })
	}
	return u
}

// about returns the question about a command of the call.
func (u question) about(c *engine.Command) question {
	u.command, u.read = c, false
	return u
}

// runs reports whether a call runs commands: a call of the shell tool, or of another tool with a
// plan of commands. Rules about the shell apply to both.
func runs(q engine.Proposal) bool {
	return q.Tool.Name() == Shell || q.Intent.Plan.Dir != "" || len(q.Intent.Plan.Commands) > 0
}

// safe reports whether the command, or each command of the call, is read-only and confined.
func (u *question) safe() bool {
	if !runs(u.Proposal) || !u.Intent.Plan.Confined || !u.Intent.Plan.Rights.Empty() ||
		u.Intent.Plan.Class != engine.Plain && !u.Intent.Plan.IsReadOnly {
		return false
	}
	if u.command != nil {
		return u.command.Safe
	}
	return len(u.Intent.Plan.Commands) > 0 &&
		!slices.ContainsFunc(u.Intent.Plan.Commands, func(c engine.Command) bool { return !c.Safe })
}

// encode writes the arguments in the forms that rules match. For a command, they are the
// arguments of a call that would run only the command.
func (u *question) encode() {
	if u.read {
		return
	}
	args := u.Args
	if u.command != nil {
		if args = maps.Clone(args); args == nil {
			args = map[string]any{}
		}
		args["command"] = engine.Quote(u.command.Argv)
	}
	declared := declaredBy(u.Tool)
	all := map[string]string{}
	u.known = map[string]string{}
	for name, v := range args {
		all[name] = jsonText(v)
		if declared[name] {
			u.known[name] = all[name]
		}
	}
	u.undeclared, u.read = len(u.known) < len(all), true
	u.exact, u.loose = nil, []string{canonical(all)}
	if u.undeclared {
		u.loose = append(u.loose, canonical(u.known))
	}
	name, given := pathOf(args)
	exact, loose := u.spellings(given)
	for _, path := range exact {
		u.exact = append(u.exact, canonical(with(u.known, name, path)))
	}
	if name == "dir_path" { // with an optional slash after a directory
		for _, path := range append(slices.Clone(loose), given) {
			loose = append(loose, strings.TrimSuffix(path, "/")+"/")
		}
	}
	for _, path := range loose {
		u.loose = append(u.loose, canonical(with(all, name, path)))
	}
}

// pathOf returns the argument that names the file or directory that a call is about, "" for none.
func pathOf(args map[string]any) (name, path string) {
	for _, name := range []string{"file_path", "dir_path"} {
		if path, ok := args[name].(string); ok && path != "" {
			return name, path
		}
	}
	return "", ""
}

// with returns args with another value for one of them, or args if name is "".
func with(args map[string]string, name, value string) map[string]string {
	if name == "" {
		return args
	}
	args = maps.Clone(args)
	args[name] = jsonText(value)
	return args
}

// spellings returns the paths of a file for rules. A rule that allows must match an exact path:
// the resolved path. The given path is exact only if no .., no link and no search leads
// elsewhere. A rule that denies may also match a loose path: any other path to the same file.
func (u *question) spellings(given string) (exact, loose []string) {
	at := u.Intent.Plan.Dir
	if len(u.Intent.Paths) > 0 {
		at = u.Intent.Paths[0]
	}
	if given == "" || at == "" {
		return []string{given}, nil
	}
	real := disk.ResolveLinks(at)
	loose = []string{filepath.ToSlash(real), filepath.ToSlash(at)}
	straight := real == at
	for _, root := range u.roots {
		top := disk.ResolveLinks(root)
		if rel, ok := insideExactly(root, at); ok {
			loose = append(loose, filepath.ToSlash(rel))
		}
		if rel, ok := insideExactly(top, real); ok {
			loose = append(loose, filepath.ToSlash(rel))
			dir := strings.TrimSuffix(at, string(filepath.Separator)+rel)
			straight = straight || disk.ResolveLinks(dir) == top && (dir == root || !u.holds(filepath.Dir(dir)))
		}
	}
	named := given
	switch {
	case filepath.IsAbs(given):
		exact = append(exact, filepath.ToSlash(real))
	case len(u.roots) == 0:
		named = at
	default:
		exact = append(exact, relative(disk.ResolveLinks(u.roots[0]), real)...)
		if straight {
			exact = append(exact, relative(u.roots[0], at)...)
		}
		named = filepath.Join(u.roots[0], given)
	}
	if straight && filepath.Clean(named) == at && !slices.Contains(elements(given), "..") {
		exact = append(exact, given)
	}
	slices.Sort(loose)
	loose = slices.DeleteFunc(slices.Compact(loose), func(path string) bool { return path == given })
	slices.Sort(exact)
	return slices.Compact(exact), loose
}

// holds reports whether path leads to a file in the workspace. A link inside the workspace leads
// elsewhere, while a link above it is only another name.
func (u *question) holds(path string) bool {
	return disk.InsideAny(u.roots, disk.ResolveLinks(path))
}

// relative returns path relative to dir, or nil on another drive.
func relative(dir, path string) []string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return nil
	}
	return []string{filepath.ToSlash(rel)}
}

// declaredBy returns the names of the arguments that a tool declares.
func declaredBy(t engine.Tool) map[string]bool {
	names := map[string]bool{}
	if t.Declaration.Parameters != nil {
		for name := range t.Declaration.Parameters.Properties {
			names[name] = true
		}
	}
	b, err := json.Marshal(t.Declaration.ParametersJsonSchema)
	var schema struct{ Properties map[string]json.RawMessage }
	if err == nil && json.Unmarshal(b, &schema) == nil {
		for name := range schema.Properties {
			names[name] = true
		}
	}
	return names
}

// canonical writes args, whose values are JSON, as JSON in which every pair stands between
// NULs, so that a pattern can tell where one ends.
func canonical(args map[string]string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(args)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\x00" + jsonText(name) + ":" + args[name] + "\x00")
	}
	b.WriteByte('}')
	return b.String()
}

func jsonText(v any) string {
	b, err := text.JSON(v, "")
	if err != nil {
		return "null"
	}
	return string(b)
}

// matches reports whether r applies to u. A rule that allows must match exactly; a rule that asks
// or denies matches every call that it may be meant for.
func (r *Rule) matches(u *question) bool { return r.concerns(u) && r.fits(u) }

// fits is [Rule.matches] for a rule that applies to the tool.
func (r *Rule) fits(u *question) bool {
	for _, e := range r.except {
		apart := u.command == nil && len(u.Intent.Plan.Commands) > 0 && e.Commands.Prefixes != nil && e.concerns(u)
		if apart || e.matches(u) { // rules about commands are settled command by command
			return false
		}
	}
	switch c := &r.Commands; {
	case c.Safe && !u.safe(), c.Revertible && !(u.Intent.Plan.Revertible && u.Intent.Plan.Rights.Empty()):
		return false
	case c.Line != "": // which covers each of its commands
		line, _ := u.Args["command"].(string)
		return line == c.Line && (c.Dir == "" || c.Dir == u.Intent.Plan.Dir)
	case r.Target != "":
		return slices.ContainsFunc(u.Intent.Grants, func(g engine.Grant) bool { return g.Target == r.Target })
	case r.Args != nil:
		u.encode()
		if r.Verdict == engine.Allow {
			return !u.undeclared && slices.ContainsFunc(u.exact, r.Args.MatchString)
		}
		return slices.ContainsFunc(u.loose, r.Args.MatchString)
	case c.Prefixes == nil && c.Pattern == nil:
		return true
	case u.command == nil:
		return false
	case r.Verdict == engine.Allow:
		return c.covers(*u.command)
	default:
		return c.catches(*u.command)
	}
}

// concerns reports whether r applies to the tool, in this mode and for this caller.
func (r *Rule) concerns(u *question) bool {
	t := u.Tool
	switch {
	case !r.When.matches(u),
		r.Kinds != nil && !slices.Contains(r.Kinds, t.Kind),
		r.Server != "" && (t.Server == "" || r.Server != "*" && r.Server != t.Server):
		return false
	}
	for name, want := range r.Annotations {
		if !reflect.DeepEqual(t.Annotations[name], want) {
			return false
		}
	}
	agent, _ := u.Args["agent_name"].(string) // rules may name agents in the place of the tool that calls them
	return slices.ContainsFunc(r.Tools, func(name string) bool {
		return r.names(name, t) || sameTool(name, Shell) && runs(u.Proposal) || name == agent &&
			t.Server == "" && t.Name() == invokeAgent
	})
}

// matches reports whether a rule applies in this mode, and for this caller.
func (w When) matches(u *question) bool {
	return (w.Modes == nil || slices.Contains(w.Modes, u.mode)) &&
		(w.Interactive == nil || *w.Interactive == u.interactive) && (w.Agent == "" || w.Agent == u.Agent)
}

// invokeAgent is the tool that calls agents.
const invokeAgent = "invoke_agent"

// agentName reports whether the name of a tool in a rule may be the name of an agent.
func agentName(name string) bool {
	if strings.Contains(name, "*") || strings.HasPrefix(name, "mcp_") {
		return false
	}
	for known := range oldNames {
		if sameTool(name, known) {
			return false
		}
	}
	return slices.Contains(agents, name) || !slices.Contains(otherTools, name)
}

// names reports whether word, a name or pattern of the rule, matches the tool. Different
// names of servers may become the same in the names of tools: a rule that allows matches only
// the server with the exact name, or the server in the rule's field, and a rule that narrows
// matches all.
func (r *Rule) names(word string, t engine.Tool) bool {
	name := t.Name()
	if strings.Contains(word, "*") && !pattern(word) &&
		(matchesName(word, name) || r.Server != "" && matchesName(word, t.ServerTool)) {
		return true
	}
	if t.Server == "" {
		before, any := strings.CutSuffix(word, "*")
		return word == "*" || sameTool(word, name) || any && before == discovered &&
			strings.HasPrefix(name, before)
	}
	own := "mcp_" + t.Server + "_"
	if r.Verdict != engine.Allow || r.Server == t.Server || r.Target != "" {
		own = engine.ServerPrefix(t.Server)
	}
	return word == "*" || word == "mcp_*" || word == own+"*" ||
		word == name && strings.HasPrefix(name, own) || r.Server != "" && word == t.ServerTool
}

// covers reports whether c is a command that a rule allows: it begins with the rule's words, in
// exactly this spelling, and sets no variable.
func (cs *Commands) covers(c engine.Command) bool {
	if len(c.Argv) == 0 || len(c.Env) > 0 {
		return false
	}
	for _, w := range c.Argv {
		if !w.Known {
			return false
		}
	}
	if cs.Pattern != nil {
		return cs.exact.MatchString(engine.Quote(c.Argv))
	}
	words := c.Words()
	return slices.ContainsFunc(cs.Prefixes, func(prefix []string) bool {
		return len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
	})
}

// catches reports whether c may be a command that a rule denies or asks about. It matches the
// program's name in any spelling, with options in between, and as the program that a runner runs,
// perhaps after an installation. The command of a runner is judged separately, but this must not
// weaken a rule that denies.
func (cs *Commands) catches(c engine.Command) bool {
	if cs.catchesProgram(c) {
		return true
	}
	for i := range c.Argv {
		if c.Facts.Runner && i > 0 && c.Argv[i].Known && cs.catchesProgram(engine.Command{Argv: c.Argv[i:]}) {
			return true
		}
	}
	return false
}

// catchesProgram is catches for c's own program. GNU's rm is called grm on systems with another
// rm.
func (cs *Commands) catchesProgram(c engine.Command) bool {
	if len(c.Argv) == 0 {
		return false
	}
	name, known := c.Program()
	name = fold(name)
	if cs.Pattern != nil {
		as := func(name string) bool {
			return cs.Pattern.MatchString(engine.Quote(append([]engine.Word{{Text: name, Known: known}}, c.Argv[1:]...)))
		}
		return cs.Pattern.MatchString(engine.Quote(c.Argv)) || cs.Pattern.MatchString(c.String()) ||
			as(name) || as(strings.TrimPrefix(name, "g"))
	}
	return known && slices.ContainsFunc(cs.Prefixes, func(prefix []string) bool {
		first := fold(base(prefix[0]))
		return (first == name || "g"+first == name) && follow(prefix[1:], c.Argv[1:])
	})
}

// follow reports whether words may contain the words of prefix in order, with only options and
// their possible values between them. An unknown word matches any word.
func follow(prefix []string, words []engine.Word) bool {
	option := false // the previous word was an option
	for _, want := range prefix {
		for {
			if len(words) == 0 {
				return false
			}
			w := words[0]
			words = words[1:]
			if !w.Known || w.Text == want {
				option = strings.HasPrefix(want, "-")
				break
			}
			switch {
			case strings.HasPrefix(w.Text, "-"):
				option = true
			case option:
				option = false
			default:
				return false
			}
		}
	}
	return true
}

// base returns the name of a program without its directory.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// fold returns the name of a program in a form for comparison.
func fold(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".exe") }
