package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/jsonc"
	"gemline/tools/agent"
	"gemline/tools/mcp"
	"gemline/tools/skill"
)

// A toggle is the new state that a command sets: the command enable switches on.
type toggle bool

// ProvideToggle returns the toggle of the current command.
func (*grammar) ProvideToggle(k *kong.Context) toggle {
	return toggle(strings.HasPrefix(k.Selected().Name, "enable"))
}

// String returns the state.
func (on toggle) String() string { return map[toggle]string{true: "on", false: "off"}[on] }

// done returns the change as a participle.
func (on toggle) done() string { return map[toggle]string{true: "enabled", false: "disabled"}[on] }

// A family is a kind of addition to gemline, with its members. A new family needs a function that
// returns it, and a row in ProvideFamilies.
type family[M any] struct {
	kind  string // of a member
	lists string // the command that lists the members
	all   []M
	about func(M) candidate // returns the name of a member, with a note
}

func hookFamily(hooks Hooks) family[ListedHook] {
	list, _ := hooks.List()
	return family[ListedHook]{"hook", "gemline hooks list", list,
		func(h ListedHook) candidate { return candidate{h.ID(), string(h.Event)} }}
}

func extensionFamily(installed Extensions) family[extension.Extension] {
	list, _ := installed()
	return family[extension.Extension]{"extension", "gemline extensions list", list,
		func(x extension.Extension) candidate { return candidate{x.Name, x.About} }}
}

func skillFamily(skills *skill.Library) family[skill.Skill] {
	return family[skill.Skill]{"skill", "gemline skills list --all", skills.All(),
		func(s skill.Skill) candidate { return candidate{s.Name, s.Description} }}
}

func agentFamily(agents Agents) family[agent.Definition] {
	list, _ := agents.List()
	return family[agent.Definition]{"agent", "gemline agents", list,
		func(d agent.Definition) candidate { return candidate{d.Name, d.Description} }}
}

// serverFamily returns the MCP servers. It waits for the named servers, no longer than most.
func serverFamily(ctx context.Context, servers Servers, most time.Duration, names ...string) (family[mcp.Status], error) {
	list, err := servers.Status(ctx, most, names...)
	return family[mcp.Status]{"MCP server", "gemline mcp list", list,
		func(s mcp.Status) candidate { return candidate{s.Name, s.Description} }}, err
}

func toolFamily[T any](list []T, name func(T) string) family[T] {
	return family[T]{"tool", "gemline tools", list, func(t T) candidate { return candidate{word: name(t)} }}
}

// families are functions that return the members of a family, by the family's name in the tags of
// the grammar.
type families map[string]func(context.Context) []candidate

// ProvideFamilies returns the families. An unreadable family has no members.
func (*grammar) ProvideFamilies(hooks Hooks, skills *skill.Library, installed Extensions, servers Servers,
	agents Agents) families {
	return families{
		"hook":      func(context.Context) []candidate { return hookFamily(hooks).members() },
		"extension": func(context.Context) []candidate { return extensionFamily(installed).members() },
		"skill":     func(context.Context) []candidate { return skillFamily(skills).members() },
		"agent":     func(context.Context) []candidate { return agentFamily(agents).members() },
		"server": func(ctx context.Context) []candidate {
			f, _ := serverFamily(ctx, servers, 0)
			return f.members()
		},
	}
}

// members returns the names of the members, with notes.
func (f family[M]) members() []candidate { return lists.Map(f.all, f.about) }

func (f family[M]) nameOf(m M) string { return f.about(m).word }

// find returns the member with a name. An exact match wins; a match in another case of letters
// counts if it is the only match.
func (f family[M]) find(name string) (m M, err error) {
	if i := slices.IndexFunc(f.all, func(m M) bool { return f.nameOf(m) == name }); i >= 0 {
		return f.all[i], nil
	}
	alike := slices.DeleteFunc(slices.Clone(f.all), func(m M) bool { return !strings.EqualFold(f.nameOf(m), name) })
	switch names := slices.Compact(slices.Sorted(slices.Values(lists.Map(alike, f.nameOf)))); {
	case len(names) == 1:
		return alike[0], nil
	case len(names) > 1:
		return m, misused("no %s is called %.100q, but %s are", f.kind, name, text.PrintableLine(text.List(names)))
	}
	if near := text.Nearest(name, lists.Map(f.all, f.nameOf)); near != "" {
		return m, misused("no %s is called %.100q; did you mean %s?", f.kind, name, text.PrintableLine(near))
	}
	return m, misused("no %s is called %.100q; %s lists them", f.kind, name, f.lists)
}

// switchIn switches names on or off in a settings file, by the key that lists disabled names.
// References to variables stay unexpanded.
func (here *Folder) switchIn(ctx context.Context, scope settings.Scope, key string, names []string,
	same func(a, b string) bool, on toggle) (settings.Change, error) {
	src, err := here.file(scope)
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
	meant := settings.In[[]any](read.Merged, strings.Split(key, ".")...)
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
		return settings.Change{Path: disk.ResolveLinks(src.Path), Unchanged: true}, nil
	}
	if !on {
		for _, name := range names {
			off = append(off, name)
		}
	}
	return src.SetKey(ctx, key, off)
}

// olderLists are older names of keys that list disabled names.
var olderLists = map[string]string{"hooksConfig.disabled": "hooks.disabled"}

// written returns a value of a settings file, with references to variables unexpanded.
func written[V any](src settings.Source, path ...string) (v V, err error) {
	doc, err := jsonc.Read(src.Path)
	if doc != nil {
		v, _ = doc.Written(path).(V)
	}
	return v, err
}
