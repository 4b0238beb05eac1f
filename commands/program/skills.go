package program

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/skill"
)

// newSkills returns the skills of a conversation, nil if there are to be none.
func newSkills(p *Project, c Choice) *skill.Active {
	if !p.opts.Settings.Skills || c.Generator != nil {
		return nil
	}
	return &skill.Active{Library: p.brought.skills, Lend: p.workspace.Lend}
}

// skillCommands returns the skills, as commands. What happens when one is activated is told
// by show.
func (f *frontend) skillCommands(show func(engine.Event)) (set commands.Set) {
	if f.session.tools.skills == nil {
		return nil
	}
	for _, one := range f.session.tools.skills.Library.Skills() {
		name := skill.CommandName(one.Name)
		set = append(set, &commands.Command{Name: name, Aliases: []string{"skill." + name},
			Args: "[TEXT]", Summary: one.Description, Custom: true, Typed: true,
			Prompt: func(ctx context.Context, _, args string) ([]*genai.Part, error) {
				defer f.session.tools.skills.Call(one.Name)()
				result, err := f.session.engine.Do(ctx, skill.ToolName, map[string]any{"name": one.Name}, shown(show))
				if err != nil {
					return nil, input.Unsent(ctx, "/"+name, userError(err))
				}
				f.session.memory.Contents() // before the history has something
				if err := f.session.engine.Add(ctx, genai.NewPartFromText(result.Text)); err != nil {
					return nil, err
				}
				if args == "" {
					args = "Use the skill " + one.Name
				}
				return []*genai.Part{genai.NewPartFromText(args)}, nil
			}})
	}
	return set
}

// elsewhere says why a name is no command, if it is that of a skill.
func (p *Project) elsewhere(name string) string {
	_, bare, _ := strings.Cut(name, ":") // behind the name of its extension
	for _, one := range p.brought.skills.All() {
		switch known := skill.CommandName(one.Name); {
		case known == bare && !one.Disabled:
			return "the skill's command is /" + known
		case known == name || known == bare:
			return "the skill is switched off; gemline skills enable " + text.EscapeLine(one.Name) + " switches it on"
		}
	}
	list, _ := p.opts.Installed() // problems are printed where an extension is used
	for _, x := range list {
		if x.Active {
			continue
		}
		found, _, _ := custom.Load([]custom.Dir{cli.CommandsOf(x)}, func(string) bool { return false })
		if slices.ContainsFunc(found, func(c custom.Command) bool { return c.Name == name }) {
			return "it is a command of the extension " + x.Name +
				", which is switched off; gemline extensions enable " + x.Name + " switches it on"
		}
	}
	return ""
}
