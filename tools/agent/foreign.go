package agent

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gemline/engine/policy"
	"gemline/engine/text"
)

// sameKeys maps keys in files of other agents to our keys. They are in lower case, without
// punctuation.
var sameKeys = map[string]string{"tool": "tools", "allowedtools": "tools"}

// knownKey returns our key for another spelling of it, or the key itself. The servers in
// files of other agents, mcpServers or mcp-servers, have another form.
func knownKey(key string, keys []string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, known := range keys {
		if known != "mcp_servers" && (plain(key) == plain(known) || sameKeys[plain(key)] == known) {
			return known
		}
	}
	return key // mcp_servers among them
}

// exceptKey is the key of Claude Code for tools that an agent may not call.
const exceptKey = "disallowedTools"

// names reads a list of tools: a YAML list, or Claude Code's words with commas between them.
// An unknown entry allows no tool and is noted.
func (r *reader) names(key string, n *yaml.Node, d *Definition) []string {
	list := []string{} // not nil, which would allow all
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		for _, name := range text.Entries(n.Value, ", \t\n") {
			list = append(list, r.toolNames(n, name, key == exceptKey, d)...)
		}
		return list
	case n.Kind != yaml.SequenceNode && key == exceptKey:
		r.misread(n, d, "%s is no list of names, such as [write_file, replace]; the agent has no tools", key)
		return []string{"*"}
	case n.Kind != yaml.SequenceNode:
		r.misread(n, d, "%s is no list of names, such as [read_file, grep_search]; the agent has none", key)
		return list
	}
	for _, item := range n.Content {
		item = r.real(item)
		if wrong := textless(item); wrong != "" {
			r.misread(item, d, "the name of a tool %s; it is left out", wrong)
			continue
		}
		list = append(list, r.toolNames(item, strings.TrimSpace(item.Value), key == exceptKey, d)...)
	}
	return list
}

// toolNames returns the tools that an entry stands for, none if it is not understood. An entry
// that denies also applies to the tool with a similar name.
func (r *reader) toolNames(n *yaml.Node, entry string, denies bool, d *Definition) []string {
	name, limits, limited := strings.Cut(entry, "(")
	limits = strings.TrimSuffix(limits, ")")
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, tool, _ := strings.Cut(rest, "__")
		name = "mcp_" + server + "_" + tool
		if tool == "" {
			name += "*"
		}
	}
	ours := cmp.Or(policy.ToolOf(name), policy.Renamed(name))
	switch {
	case limited && strings.Trim(limits, ":*") != "":
		r.note(n, d, "%.100q is left out: an agent has a tool as a whole, and rules say for what", entry)
		return nil
	case ours != "":
		return []string{ours}
	case !toolPattern().MatchString(name):
		r.note(n, d, "%.100q is no name of a tool, and left out; a * stands for any ending", entry)
		return nil
	case name != strings.ToLower(name) && !strings.HasPrefix(name, "mcp_"):
		if !slices.Contains(callers, name) {
			r.note(n, d, "%.100q is no tool here, and left out", name)
		}
		return nil
	}
	near := policy.Misspelled(name)
	switch {
	case near != "" && denies:
		r.misread(n, d, "there is no tool %s; did you mean %s? The agent has neither", name, near)
		return []string{name, near}
	case near != "":
		r.misread(n, d, "there is no tool %s; did you mean %s?", name, near)
	case !policy.MayExist(name):
		r.note(n, d, "%.100q is no tool here; a tool of a server is called mcp_SERVER_TOOL", name)
	}
	return []string{name}
}

// callers are tools of Claude Code that agents never have here, so their names are dropped
// without a note.
var callers = []string{"Task", "Agent", "AskUserQuestion", "ExitPlanMode"}

// note adds a notice that does not prevent the use of the agent.
func (r *reader) note(n *yaml.Node, d *Definition, format string, args ...any) {
	d.Notes = append(d.Notes, r.problem(n, format, args...))
}

// misread notes a value that is not used as written. A [FileError], in contrast, rejects the
// file.
func (r *reader) misread(n *yaml.Node, d *Definition, format string, args ...any) {
	d.Misread = append(d.Misread, errors.New(r.problem(n, format, args...).Error()))
}

// OtherVendor reports whether the name of a model is from a vendor other than Google.
func OtherVendor(model string) bool {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return slices.ContainsFunc(otherFamilies, func(family string) bool {
		rest, ok := strings.CutPrefix(name, family)
		const letters, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
		more := letters
		if strings.ContainsAny(family, digits) {
			more += digits
		}
		return ok && (rest == "" || !strings.ContainsAny(rest[:1], more))
	})
}

// otherFamilies are prefixes of the names of other vendors' models.
var otherFamilies = strings.Fields(`claude opus opusplan sonnet haiku gpt chatgpt codex o1 o3 o4 deepseek llama codellama
mistral mixtral codestral devstral magistral qwen qwq grok kimi glm minimax command-r nova phi nemotron`)

// toolList reports whether an unknown key is probably the list of tools: a slip such as tols, or
// a list under a name such as tool_list.
func toolList(key string, value *yaml.Node) bool {
	list := value.Kind == yaml.SequenceNode || value.Kind == yaml.ScalarNode && strings.Contains(value.Value, ",")
	return strings.HasPrefix(key, "t") && text.Nearest(key, []string{"tools"}) != "" || list && strings.Contains(key, "tool")
}

// unknownKeys notes keys without effect. A key that is probably a misspelled key of ours is
// reported as misread; if that key limits the tools, the agent gets no tools.
func (r *reader) unknownKeys(odd [][2]*yaml.Node, d *Definition, keys []string) {
	var names []string
	for _, o := range odd {
		key := o[0]
		name := text.OneLine(key.Value, longestTitle)
		near := text.Likely(strings.ToLower(key.Value), keys)
		if near == "" && d.Access.Tools == nil && slices.Contains(keys, "tools") && toolList(strings.ToLower(key.Value), o[1]) {
			near = "tools"
		}
		switch {
		case near == "", near == "mcp_servers" && o[1].Kind == yaml.SequenceNode: // names, as Claude Code has them
			names = append(names, name)
			continue
		case near == "tools" && d.Access.Tools == nil:
			d.Access.Tools = []string{}
			near += "? The agent has no tools"
		case near == exceptKey:
			d.Access.Except = []string{"*"}
			near += "? The agent has no tools"
		default:
			near += "?"
		}
		r.misread(key, d, "%q means nothing; did you mean %s", name, near)
	}
	if len(names) > 0 {
		r.note(odd[0][0], d, "unknown, and without effect: %s", text.List(names))
	}
}
