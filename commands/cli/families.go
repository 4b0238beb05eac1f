package cli

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"

	"gemline/settings/extension"
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

// listing shows the members of a family and the problems with others, as a document or as
// lines. None is the line if there are no others.
func (out *Output) listing(family string, members any, problems, lines []string, none string) error {
	if len(lines) == 0 {
		lines = []string{none}
	}
	return out.show(map[string]any{family: members, "problems": append([]string{}, problems...)}, lines...)
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
