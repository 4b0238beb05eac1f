package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
)

// maxPriority is the strongest priority of a rule.
const maxPriority = 999

// mended returns safe replacements of a malformed rule, and describes them. A rule that allows is
// dropped. A rule that asks or denies matches more calls than intended: its malformed conditions
// are ignored.
func (r *reader) mended() (rules []Rule, became string) {
	table := maps.Clone(r.table)
	commands := false // the rule is about the shell, even if its keys are ignored
	says := false
	for key := range table {
		commands = commands || strings.HasPrefix(key, "command")
		says = says || key == "toolName" || key == "mcpName" || key == "decision"
	}
	v := strictVerdict(table["decision"])
	switch {
	case !says && !commands:
		return nil, "it says nothing, and is passed over"
	case v == engine.Allow:
		return nil, "it allows nothing"
	}
	table["decision"] = VerdictName(v)
	for range 2 * len(fields) {
		m := reader{table: table}
		rule := m.rule()
		switch {
		case m.message == "":
			r.notes = m.notes
			verb := map[engine.Verdict]string{engine.Ask: "asks about", engine.Deny: "denies"}[v]
			return append(rules, rule), "it " + verb + " " + rule.About()
		case m.key == "priority":
			table["priority"] = nearPriority(table["priority"])
		case m.key == "toolName":
			if names := widened(table, commands); names != nil {
				rules = append(rules, Rule{Tools: names, Verdict: v, Priority: int(nearPriority(table["priority"]))})
			}
		default:
			delete(table, m.key)
		}
	}
	return []Rule{{Tools: []string{"*"}, Verdict: v, Priority: maxPriority}}, "it is about every tool"
}

// widened sets the tool of a rule about commands to the shell, and returns the other tools that
// the rule names. Any other rule applies to the tools that it names, or to all.
func widened(table map[string]any, commands bool) (others []string) {
	list, _ := table["toolName"].([]any)
	for _, v := range append(slices.Clone(list), table["toolName"]) {
		name, _ := v.(string)
		if name = strings.TrimSpace(name); name != "" && name != "*" && !sameTool(name, Shell) && foreign(name) != Shell {
			others = append(others, name)
		}
	}
	switch {
	case commands:
		table["toolName"] = Shell
		return others
	case others == nil:
		table["toolName"] = "*"
		return nil
	}
	named := make([]any, len(others))
	for i, name := range others {
		named[i] = name
	}
	table["toolName"] = named
	return nil
}

// nearPriority returns the valid priority nearest to a value, the strongest if the value is no
// number.
func nearPriority(value any) int64 {
	n, ok := value.(int64)
	switch x := value.(type) {
	case float64:
		n, ok = int64(min(max(x, 0), maxPriority)), true
	case string:
		i, err := strconv.Atoi(strings.TrimSpace(x))
		n, ok = int64(i), err == nil
	}
	if !ok {
		return maxPriority
	}
	return min(max(n, 0), maxPriority)
}

// strictVerdict returns the probable meaning of a decision, a denial if it is unclear.
func strictVerdict(decision any) engine.Verdict {
	word, _ := decision.(string)
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word))) {
	case "allow", "allowed", "allows", "approve", "approved", "always", "permit", "yes":
		return engine.Allow
	case "ask", "ask_user", "askuser", "asks", "confirm", "prompt":
		return engine.Ask
	}
	return engine.Deny
}

// byDefault reports whether a rule denies all tools, or all tools of a kind, without a name. Such
// a denial is a default, which other rules may override.
func (r *Rule) byDefault() bool {
	named := func(name string) bool { return name != "*" && name != "mcp_*" && name != discovered+"*" }
	return r.Verdict == engine.Deny && r.Tier.deniesFirst() && !r.bounded() &&
		(r.Server == "" || r.Server == "*") && !slices.ContainsFunc(r.Tools, named)
}

// matchesName reports whether a name matches a pattern with asterisks.
func matchesName(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 || !strings.HasPrefix(name, parts[0]) {
		return pattern == name
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1:last] {
		_, after, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, parts[last])
}

// foreign is [ToolOf] for a name in the spelling of other agents; "" if it is unknown, or the
// name of a tool here.
func foreign(name string) string {
	if server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); ok && server != "" && tool != "" {
		return "mcp_" + server + "_" + tool // mcp__ is the old form, and that of other programs
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok && server != "" && !strings.Contains(server, "__") {
		return "mcp_" + server + "_*"
	}
	if name == strings.ToLower(name) && name != "bash" {
		return ""
	}
	return ToolOf(name)
}
