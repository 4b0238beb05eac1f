package trust

import (
	"maps"
	"slices"
	"strings"

	"gemline/engine/hook"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/jsonc"
)

// settings lists the programs and changes of a project's settings file, without values that have no
// effect.
func (v *view) settings(name string) {
	if doc, _ := v.document(name, "setting"); doc != nil {
		v.own = settings.EffectiveValues(doc, v.weaker)
		v.tree(v.own)
	}
}

func (v *view) tree(tree map[string]any) {
	hooks, listed := tree["hooks"].(map[string]any)
	v.hooks(hooks)
	if v.inTree(tree) {
		delete(tree, "mcpServers")
	}
	if listed && len(hooks) == 0 {
		delete(tree, "hooks")
	}
	v.keys("", tree, 2)
}

// document reads a file with an object, nil if it can't be used.
func (v *view) document(name, kind string) (doc *jsonc.Document, size int) {
	text, ok := v.read(name, kind)
	if !ok {
		return nil, 0
	}
	doc, err := jsonc.Parse(name, text)
	if err != nil {
		v.add(Item{Kind: kind, Name: name, Detail: "can't be used: " + err.Error()})
		return nil, 0
	}
	return doc, len(text)
}

// hooks lists the hooks of a file, and removes the events whose hooks are all listed.
func (v *view) hooks(hooks map[string]any) {
	list, wrong := hook.Parse(hooks, hook.Project, hook.File{})
	for _, h := range list {
		name := string(h.Event)
		if h.Matcher != "" && h.Matcher != "*" {
			name += " of " + h.Matcher
		}
		v.add(Item{Kind: "hook", Name: name, Detail: h.Command})
		if !slices.ContainsFunc(wrong, func(p hook.Problem) bool { return p.Event == h.Event && !p.StillRuns }) {
			delete(hooks, string(h.Event))
		}
	}
}

// servers lists the MCP servers of a .mcp.json.
func (v *view) servers(name string) {
	if doc, size := v.document(name, "MCP server"); doc != nil && !v.inTree(doc.Tree) {
		v.add(Item{Kind: "file", Name: name, Detail: bytesOf(int64(size))})
	}
}

// inTree lists the MCP servers of a tree, and reports whether there are any.
func (v *view) inTree(tree map[string]any) bool {
	servers := settings.In[map[string]any](tree, "mcpServers")
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		v.server(name, servers[name])
	}
	return len(servers) > 0
}

// server lists an MCP server: the command that starts it, or its address, and its other values.
func (v *view) server(name string, value any) {
	s, _ := value.(map[string]any)
	start, with := settings.DescribeServer(s)
	if start == "" {
		start, with = text.Compact(value), ""
	}
	v.add(Item{Kind: "MCP server", Name: name, Detail: start + with})
}

// keys lists the settings of a tree, each with its value.
func (v *view) keys(prefix string, tree map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		key := prefix + name
		if below, ok := tree[name].(map[string]any); ok && depth > 0 && len(below) > 0 {
			v.keys(key+".", below, depth-1)
			continue
		}
		v.add(Item{Kind: "setting", Name: key, Detail: text.Compact(tree[name]), Caution: weakens(key, tree[name])})
	}
}

// weakens describes how a setting of a project weakens security, "" if it does not.
func weakens(key string, value any) string {
	if risk := settings.Risk(strings.Split(key, ".")); risk != "" {
		return risk
	}
	low := strings.ToLower(key + " " + text.Compact(value))
	switch {
	case strings.Contains(low, "baseurl"), strings.Contains(low, "endpoint"), strings.Contains(low, "://"):
		return "names an address"
	case strings.HasSuffix(strings.ToLower(key), "command"):
		return "runs a command"
	}
	return ""
}
