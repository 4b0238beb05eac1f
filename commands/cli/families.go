package cli

import (
	"context"

	"gemline/tools/skill"
)

// A family is what people add to gemline of one kind.
type family struct {
	kind    string // as the tags of the grammar have it
	members func(context.Context) []candidate
}

// ProvideFamilies returns the families. Whatever can't be read has no members.
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
