package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gemline/engine"
)

// Lists are the settings' lists of tools. The name of the shell may have a prefix of commands, as
// in run_shell_command(git status).
type Lists struct {
	Core        []string // the only available tools, if not nil; they run unasked
	Allowed     []string // tools that run unasked
	AllowedName string   // the name of Allowed at its origin; tools.allowed if empty
	Exclude     []string // denied tools
	Confirm     []string // tools that are asked about

	// MCP servers. Their tools run unasked, except in plan mode, or not at all.
	Trusted  []string // by mcpServers.NAME.trust
	Servers  []string // by mcp.allowed
	Unasked  []string // by mcp.autoAllowInHeadless
	Excluded []string // by mcp.excluded

	Line, Column int // the place in their file, 0 if unknown
}

// Rules returns the rules of the lists; for a tier that can only narrow, without rules that
// allow. The warnings are about malformed entries: they allow nothing, or deny the whole
// tool. The warnings name from, the origin of the lists.
func (l Lists) Rules(tier Tier, from string) (rules []Rule, warnings []string) {
	b := builder{tier: tier, from: from, line: l.Line, column: l.Column}
	for _, s := range l.Excluded {
		b.server(s, Rule{Verdict: engine.Deny, Priority: 900, Origin: Origin{text: "mcp.excluded " + quoted(s)}})
	}
	b.each("tools.exclude", l.Exclude, engine.Deny, 400)
	b.each("tools.confirmationRequired", l.Confirm, engine.Ask, 350)
	if !tier.narrows() {
		b.allowed(cmp.Or(l.AllowedName, "tools.allowed"), l.Allowed)
		for _, s := range l.Trusted {
			b.server(s, Rule{When: When{Modes: acting}, Verdict: engine.Allow, Priority: 200,
				Origin: Origin{text: "mcpServers." + oneLine(s) + ".trust"}})
		}
		for _, s := range l.Servers {
			b.server(s, Rule{When: When{Modes: acting}, Verdict: engine.Allow, Priority: 100, Origin: Origin{text: "mcp.allowed " + quoted(s)}})
		}
		for _, s := range l.Unasked {
			b.server(s, Rule{When: When{Modes: acting}, Verdict: engine.Allow, Priority: 100, Origin: Origin{text: "mcp.autoAllowInHeadless"}})
		}
	}
	if l.Core != nil {
		core := b.list("tools.core", l.Core, engine.Allow, 250)
		if !tier.narrows() {
			for _, r := range core {
				r.When.Modes = acting
				b.add(r)
			}
		}
		b.add(Rule{Tools: []string{"*"}, Verdict: engine.Deny, Priority: 240, except: core, Origin: Origin{text: "tools.core"}})
	}
	return b.rules, b.warnings
}

// acting are the modes in which changes are possible.
var acting = []Mode{Default, AutoEdit, Auto, Yolo}

// A builder collects rules.
type builder struct {
	tier         Tier
	from         string
	line, column int
	rules        []Rule
	warnings     []string
}

func (b *builder) add(r Rule) {
	r.Tier, r.Origin.File, r.Origin.Line = b.tier, b.from, b.line
	b.rules = append(b.rules, r)
}

// server adds a rule about all tools of a server. Without a name it adds none, since the rule
// would also match tools without a server.
func (b *builder) server(name string, r Rule) {
	if name != "" {
		r.Tools, r.Server = []string{"*"}, name
		b.add(r)
	}
}

func (b *builder) each(key string, entries []string, v engine.Verdict, priority int) {
	for _, r := range b.list(key, entries, v, priority) {
		b.add(r)
	}
}

// allowed adds the rules of tools.allowed or a similar key. If it names commands of the shell,
// other commands are denied.
func (b *builder) allowed(key string, entries []string) {
	list := b.list(key, entries, engine.Allow, 300)
	var commands []Rule
	named := false
	for _, r := range list {
		b.add(r)
		if sameTool(r.Tools[0], Shell) {
			commands, named = append(commands, r), named || r.Commands.Prefixes != nil
		}
	}
	if named {
		b.add(Rule{Tools: []string{Shell}, Verdict: engine.Deny, Priority: 290, except: commands, Origin: Origin{text: key},
			Message: "Only the commands that " + key + " names may run."})
	}
}

// list returns a rule for each entry.
func (b *builder) list(key string, entries []string, v engine.Verdict, priority int) (rules []Rule) {
	for _, text := range entries {
		e := readEntry(text, v == engine.Allow)
		if e.note == "" {
			e = e.spelled(key == "tools.core", v == engine.Allow)
		}
		if e.note != "" {
			b.warn(key, text, e.note)
		}
		if len(e.tools) > 0 {
			rules = append(rules, Rule{Verdict: v, Priority: priority, Origin: Origin{text: key + " " + quoted(text)},
				Tools: e.tools, Commands: Commands{Prefixes: e.prefixes}})
		}
	}
	return rules
}

// warn notes the fault of an entry.
func (b *builder) warn(key, entry, problem string) {
	at := FileError{Path: b.from, Line: b.line, Column: b.column, Message: fmt.Sprintf("%s: %s %s", key, quoted(entry), problem)}
	b.warnings = append(b.warnings, at.Error())
}

// An entry is a parsed element of a list.
type entry struct {
	tools    []string
	prefixes [][]string // of commands, nil for all
	note     string     // the entry is valid, but has another preferred form
	problem  string     // the entry is invalid
}

// readEntry reads an entry of a list, which allows if allows is true, and otherwise denies or
// asks. A malformed entry allows nothing, or denies the whole tool.
func readEntry(text string, allows bool) entry {
	e := parseEntry(text)
	switch {
	case e.problem == "":
	case allows:
		return entry{note: e.problem + "; it allows nothing"}
	case e.prefixes == nil && e.tools != nil:
		e.problem += "; all of " + strings.Join(e.tools, ", ") + " counts"
	}
	e.note = cmp.Or(e.problem, e.note)
	return e
}

// spelled adds a note or problem to an entry that names no known tool. As in files of rules, an
// entry that denies also applies to the tool with a similar name.
func (e entry) spelled(whole, allows bool) entry {
	name := e.tools[0]
	near := Misspelled(name)
	switch {
	case near != "" && allows:
		e.note = "is the name of no tool; did you mean " + near + "? It allows nothing"
	case near != "":
		e.note, e.tools = "is the name of no tool; did you mean "+near+"? It counts for that, too", append(e.tools, near)
	case whole && !MayExist(name):
		e.note = "is the name of no tool, and allows nothing but an agent of that name"
	}
	return e
}

// MayExist reports whether a name belongs to a known tool, or to a tool that a server or another
// source may add.
func MayExist(name string) bool {
	known := func(tool string) bool { return sameTool(name, tool) }
	return strings.HasSuffix(name, "*") || strings.HasPrefix(name, "mcp_") || strings.HasPrefix(name, discovered) ||
		strings.HasPrefix(name, "tracker_") ||
		slices.Contains(otherTools, name) || slices.ContainsFunc(slices.Collect(maps.Keys(oldNames)), known)
}

// parseEntry reads the name of a tool, and a pattern in parentheses.
func parseEntry(text string) (e entry) {
	name, inner, bracketed := strings.Cut(strings.TrimSpace(text), "(")
	name = strings.TrimSpace(name)
	inner, closed := strings.CutSuffix(inner, ")")
	tool := cmp.Or(foreign(name), name)
	inner, starred := unstarred(" " + unquoted(inner))
	inner = strings.TrimSpace(inner)
	switch {
	case strings.Contains(tool, ","):
		for _, one := range strings.Split(tool, ",") {
			one = strings.TrimSpace(one)
			e.tools = append(e.tools, cmp.Or(foreign(one), one))
		}
		e.problem = "names several tools; each is an entry of its own"
		return e
	case tool == "" || strings.ContainsAny(tool, " )"):
		return entry{problem: "names no tool"}
	case strings.Contains(tool, "*") && !pattern(tool):
		return entry{tools: []string{tool}, problem: "is no pattern; *, mcp_*, mcp_SERVER_* and discovered_tool_* are"}
	case bracketed && !closed:
		e.problem = "lacks a closing parenthesis"
	case bracketed && inner == "" && starred: // any arguments
		e.note = "is taken for " + tool
	case bracketed && !sameTool(tool, Shell):
		e.problem = "can't be limited to the words in parentheses; " + tool +
			" is all of it, and a rule with argsPattern some of it"
	case bracketed:
		words, problem := split(inner)
		if problem != "" {
			e.problem = problem
			if plain := strings.TrimRight(inner, "*"); plain != inner && plain != "" {
				e.problem += fmt.Sprintf("; %s(%s) is understood", tool, plain)
			}
			break
		}
		e.prefixes = [][]string{words}
		if starred {
			e.note = fmt.Sprintf("is taken for %s(%s), which covers all words that follow", tool, inner)
		}
	}
	e.tools = []string{tool}
	if tool == name {
		return e
	}
	if e.prefixes == nil {
		e.tools = append(e.tools, name) // in case the tool exists
	} else {
		tool += "(" + inner + ")"
	}
	e.problem = cmp.Or(e.problem, "is called "+tool+" here")
	return e
}
