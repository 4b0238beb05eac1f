package policy

import (
	"cmp"
	"fmt"
	"strings"

	"gemline/engine"
)

// Lists are what the settings say about tools: their names. The name of the shell may
// be followed by the beginning of a command, as in run_shell_command(git status).
type Lists struct {
	Core    []string // the only tools there are, if not nil; they run unasked
	Allowed []string // tools that run unasked
	As      string   // what Allowed is called where it comes from; tools.allowed if empty
	Exclude []string // tools that do not run
	Confirm []string // tools that are asked about

	// Servers of MCP. Their tools run unasked, but for plan mode, or not at all.
	Trusted  []string // by mcpServers.NAME.trust
	Servers  []string // by mcp.allowed
	Unasked  []string // by mcp.autoAllowInHeadless
	Excluded []string // by mcp.excluded

	Line, Column int // at which they stand in their file, 0 if that is not known
}

// Rules returns the rules that the lists stand for. Of a tier that can only
// narrow they are those that do. The error, a [FileError], names from, which
// says where the lists come from.
func (l Lists) Rules(tier Tier, from string) ([]Rule, error) {
	b := builder{tier: tier, from: from, line: l.Line, column: l.Column}
	for _, s := range l.Excluded {
		b.server(s, Rule{Verdict: engine.Deny, Priority: 900, text: "mcp.excluded " + quoted(s)})
	}
	b.each("tools.exclude", l.Exclude, engine.Deny, 400)
	b.each("tools.confirmationRequired", l.Confirm, engine.Ask, 350)
	if !tier.narrows() {
		b.allowed(cmp.Or(l.As, "tools.allowed"), l.Allowed)
		for _, s := range l.Trusted {
			b.server(s, Rule{Modes: acting, Verdict: engine.Allow, Priority: 200,
				text: "mcpServers." + oneLine(s) + ".trust"})
		}
		for _, s := range l.Servers {
			b.server(s, Rule{Modes: acting, Verdict: engine.Allow, Priority: 100, text: "mcp.allowed " + quoted(s)})
		}
		for _, s := range l.Unasked {
			b.server(s, Rule{Modes: acting, Verdict: engine.Allow, Priority: 100, text: "mcp.autoAllowInHeadless"})
		}
	}
	if l.Core != nil {
		core := b.list("tools.core", l.Core, engine.Allow, 250)
		if !tier.narrows() {
			for _, r := range core {
				r.Modes = acting
				b.add(r)
			}
		}
		b.add(Rule{Tools: []string{"*"}, Verdict: engine.Deny, Priority: 240, except: core, text: "tools.core"})
	}
	return b.rules, b.err
}

// acting are the modes in which something may be done.
var acting = []Mode{Default, AutoEdit, Auto, Yolo}

// A builder collects rules, and keeps the first mistake.
type builder struct {
	tier         Tier
	from         string
	line, column int
	rules        []Rule
	err          error
}

func (b *builder) add(r Rule) {
	r.Tier, r.File, r.Line = b.tier, b.from, b.line
	b.rules = append(b.rules, r)
}

// server adds a rule about all tools of a server. Without a name it adds nothing,
// since the rule would be about the tools of no server as well.
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

// allowed adds the rules of tools.allowed, or what is like it. Where it names
// commands of the shell, others do not run.
func (b *builder) allowed(key string, entries []string) {
	list := b.list(key, entries, engine.Allow, 300)
	var commands []Rule
	named := false
	for _, r := range list {
		b.add(r)
		if sameTool(r.Tools[0], Shell) {
			commands, named = append(commands, r), named || r.Prefixes != nil
		}
	}
	if named {
		b.add(Rule{Tools: []string{Shell}, Verdict: engine.Deny, Priority: 290, except: commands, text: key,
			Message: "Only the commands that " + key + " names may run."})
	}
}

// list returns a rule for each entry.
func (b *builder) list(key string, entries []string, v engine.Verdict, priority int) (rules []Rule) {
	for _, entry := range entries {
		r := Rule{Verdict: v, Priority: priority, text: key + " " + quoted(entry)}
		name, rest, command := strings.Cut(strings.TrimSpace(entry), "(")
		problem := ""
		if command {
			inner, closed := strings.CutSuffix(rest, ")")
			var words []string
			switch words, problem = split(inner); {
			case !closed:
				problem = "lacks a closing parenthesis"
			case !sameTool(name, Shell):
				problem = fmt.Sprintf("has a command, and only %s runs commands", Shell)
			case problem == "":
				r.Prefixes = [][]string{words}
			}
		}
		if i := strings.IndexByte(name, '*'); name == "" || i >= 0 && (i < len(name)-1 || !pattern(name)) {
			problem = "names no tool"
		}
		if problem != "" {
			if b.err == nil {
				b.err = &FileError{Path: b.from, Line: b.line, Column: b.column,
					Message: fmt.Sprintf("%s: %s %s", key, quoted(entry), problem)}
			}
			continue
		}
		r.Tools = []string{name}
		rules = append(rules, r)
	}
	return rules
}
