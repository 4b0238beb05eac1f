package cli

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"

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
		{"hook", func(context.Context) (all []candidate) {
			list, _ := hooks.List()
			for _, h := range list {
				all = append(all, candidate{h.ID(), string(h.Event)})
			}
			return all
		}},
		{"extension", func(context.Context) (all []candidate) {
			list, _ := installed()
			for _, x := range list {
				all = append(all, candidate{x.Name, x.About})
			}
			return all
		}},
		{"skill", func(context.Context) (all []candidate) {
			for _, s := range skills.All() {
				all = append(all, candidate{s.Name, s.Description})
			}
			return all
		}},
		{"agent", func(context.Context) (all []candidate) {
			list, _ := agents.List()
			for _, d := range list {
				all = append(all, candidate{d.Name, d.Description})
			}
			return all
		}},
		{"server", func(ctx context.Context) (all []candidate) {
			list, _ := servers.Status(ctx, 0)
			for _, s := range list {
				all = append(all, candidate{s.Name, s.Description})
			}
			return all
		}},
	}
}
