package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/jsonc"
	"gemline/tools/agent"
	"gemline/tools/mcp"
	"gemline/tools/skill"
)

// A toggle says whether a command that switches something switches it on: it is called enable.
type toggle bool

// ProvideToggle returns it for the command that is carried out.
func (*grammar) ProvideToggle(k *kong.Context) toggle {
	return toggle(strings.HasPrefix(k.Selected().Name, "enable"))
}

// String says what something is then.
func (on toggle) String() string { return map[toggle]string{true: "on", false: "off"}[on] }

// done says in a word what was done.
func (on toggle) done() string { return map[toggle]string{true: "enabled", false: "disabled"}[on] }

// member returns the member of a family that goes by a name: in its own spelling, or else in
// another case of letters, if that is the name of one member only. Lists is the command that
// lists the family.
func member[T any](kind, lists, name string, family []T, nameOf func(T) string) (m T, err error) {
	if i := slices.IndexFunc(family, func(m T) bool { return nameOf(m) == name }); i >= 0 {
		return family[i], nil
	}
	alike := slices.DeleteFunc(slices.Clone(family), func(m T) bool { return !strings.EqualFold(nameOf(m), name) })
	switch names := slices.Compact(slices.Sorted(slices.Values(each(alike, nameOf)))); {
	case len(names) == 1:
		return alike[0], nil
	case len(names) > 1:
		return m, misused("no %s is called %.100q, but %s are", kind, name, text.EscapeLine(text.List(names)))
	}
	if near := text.Nearest(name, each(family, nameOf)); near != "" {
		return m, misused("no %s is called %.100q; did you mean %s?", kind, name, text.EscapeLine(near))
	}
	return m, misused("no %s is called %.100q; %s lists them", kind, name, lists)
}

// switchIn switches names on or off in a file of settings, by the key that lists what is off.
// What a variable stands for there is never put in its place.
func (here *Folder) switchIn(ctx context.Context, scope settings.Scope, key string, names []string,
	same func(a, b string) bool, on toggle) (settings.Change, error) {
	src, err := where{scope}.source(here)
	if err != nil {
		return settings.Change{}, err
	}
	list, err := written[[]any](src, strings.Split(key, ".")...)
	if list == nil && err == nil {
		list, err = written[[]any](src, strings.Split(olderLists[key], ".")...)
	}
	if err != nil {
		return settings.Change{}, err
	}
	read, _, _ := settings.Load([]settings.Source{src}, here.environment)
	meant, _ := valueAt(read.Merged, strings.Split(key, ".")...).([]any)
	off := []any{}
	for i, v := range list {
		if len(meant) == len(list) {
			v = meant[i]
		}
		if !slices.ContainsFunc(names, func(name string) bool { return same(name, fmt.Sprint(v)) }) {
			off = append(off, list[i])
		}
	}
	if bool(on) && len(off) == len(list) {
		return settings.Change{Path: disk.Follow(src.Path), Same: true}, nil
	}
	if !on {
		for _, name := range names {
			off = append(off, name)
		}
	}
	return src.SetKey(ctx, key, off)
}

// olderLists are the older names of such keys.
var olderLists = map[string]string{"hooksConfig.disabled": "hooks.disabled"}

// written returns a value of a file of settings as it is written there: what a variable
// stands for is never put in its place.
func written[V any](src settings.Source, path ...string) (v V, err error) {
	doc, err := jsonc.Read(src.Path)
	if doc != nil {
		v, _ = doc.Written(path).(V)
	}
	return v, err
}

// valueAt returns what stands at a path in a tree of settings, nil if nothing does.
func valueAt(tree any, path ...string) any {
	for _, name := range path {
		below, _ := tree.(map[string]any)
		tree = below[name]
	}
	return tree
}

// A family is one kind of addition to gemline: hooks, extensions, skills, agents or servers.
type family struct {
	kind    string // as the tags of the grammar have it
	members func(context.Context) []candidate
}

// ProvideFamilies returns the families. A family that can't be read has no members.
func (*grammar) ProvideFamilies(hooks Hooks, skills *skill.Library, installed Extensions, servers Servers,
	agents Agents) []family {
	return []family{
		{"hook", func(context.Context) []candidate {
			list, _ := hooks.List()
			return each(list, func(h ListedHook) candidate { return candidate{h.ID(), string(h.Event)} })
		}},
		{"extension", func(context.Context) []candidate {
			list, _ := installed()
			return each(list, func(x extension.Extension) candidate { return candidate{x.Name, x.About} })
		}},
		{"skill", func(context.Context) []candidate {
			return each(skills.All(), func(s skill.Skill) candidate { return candidate{s.Name, s.Description} })
		}},
		{"agent", func(context.Context) []candidate {
			list, _ := agents.List()
			return each(list, func(d agent.Definition) candidate { return candidate{d.Name, d.Description} })
		}},
		{"server", func(ctx context.Context) []candidate {
			list, _ := servers.Status(ctx, 0)
			return each(list, func(s mcp.Status) candidate { return candidate{s.Name, s.Description} })
		}},
	}
}

// each returns the results of a function for the members of a list. It is never nil.
func each[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = of(one)
	}
	return all
}
