package settings

import (
	"fmt"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
)

// An Unused is a setting of the user that has no effect yet.
type Unused struct {
	Feature string `json:"feature"` // the key
	Name    string `json:"name"`    // for example the name of a tool
	File    string `json:"file"`    // a file or directory, or a variable of the environment
	Line    int    `json:"line,omitempty"`
}

// IsUnused reports whether an item of a folder, by kind and name, has no effect yet. In the table
// of keys, such rows have the status [Later].
func IsUnused(kind, name string) bool {
	k, ok := FindKey(name)
	return kind == "setting" && ok && k.Status == Later
}

// Unused lists the settings in files that have no effect yet.
func (s *Settings) Unused(lookup func(string) (string, bool)) []Unused {
	var u finder
	for i := range s.layers {
		u.layer(&s.layers[i])
	}
	u.environment(lookup)
	return u.found
}

// Unused lists the settings in the file that have no effect yet.
func (l *Layer) Unused() []Unused {
	var u finder
	u.layer(l)
	return u.found
}

// A finder collects settings without an effect yet.
type finder struct{ found []Unused }

// add lists an item. It replaces the item of a weaker file.
func (u *finder) add(item Unused) {
	same := func(o Unused) bool { return o.Feature == item.Feature && o.Name == item.Name }
	u.found = append(slices.DeleteFunc(u.found, same), item)
}

// layer lists the keys of a file that gemline does not use yet.
func (u *finder) layer(l *Layer) {
	item := func(path []string) Unused {
		line, _ := l.doc.Position(l.written(path))
		return Unused{Feature: JoinKey(path), Name: JoinKey(path), File: l.Path, Line: line}
	}
	var walk func(n *node, path []string, v any)
	walk = func(n *node, path []string, v any) {
		tree, holds := v.(map[string]any)
		switch {
		case n == nil:
		case n.key != nil && n.key.Status == Later:
			u.key(v, item(path))
		case holds:
			for name, inner := range sorted(tree) {
				walk(n.next(name), below(path, name), inner)
			}
		}
	}
	if l.doc != nil && len(l.tree) > 0 {
		walk(catalogue(), nil, l.tree)
	}
	if In[bool](l.tree, browserAgent...) {
		u.add(item(browserAgent))
	}
}

// browserAgent is the key of an agent of the Gemini CLI, which exists if it is switched on.
var browserAgent = []string{"agents", "overrides", "browser_agent", "enabled"}

// key adds the values of a key.
func (u *finder) key(v any, item Unused) {
	k, _ := FindKey(item.Name)
	on, isSwitch := v.(bool)
	if text.Compact(v) != text.Compact(k.Default()) && !(isSwitch && on == (k.wants == "false")) {
		u.add(item)
	}
}

// environment adds the variables of keys without a field.
func (u *finder) environment(lookup func(string) (string, bool)) {
	for _, o := range overrides(nil) {
		if names, values := o.variables(lookup); len(values) > 0 && o.Key.Status == Later {
			u.key(values[0], Unused{Feature: o.Key.Name, Name: o.Key.Name, File: names[0]})
		}
	}
}

// UnusedSummary joins the items into one line.
func UnusedSummary(items []Unused) string {
	const most = 8
	words := lists.Map(items, func(i Unused) string { return i.Name })
	if n := len(words) - most; n > 0 {
		words = append(words[:most], fmt.Sprintf("and %d more", n))
	}
	return text.PrintableLine(strings.Join(words, ", "))
}

// UnusedLines describes the items in lines, with their places.
func UnusedLines(items []Unused) []string {
	return lists.Map(items, func(i Unused) string { return i.Name + " in " + i.File })
}
