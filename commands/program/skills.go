package program

import (
	"slices"
	"strings"

	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/engine/text"
	"gemline/tools/skill"
)

// newSkills returns the skills of a conversation, nil if there are to be none.
func newSkills(p *Project, c Choice) *skill.Active {
	if !p.opts.Settings.Skills || c.Generator != nil {
		return nil
	}
	return &skill.Active{Library: p.brought.skills, Lend: p.workspace.Lend}
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
