package session

import (
	"gemline/commands/program/project"
	"gemline/tools/skill"
)

// newSkills returns the skills of a conversation, nil if there are to be none.
func newSkills(p *project.Project, c Choice) *skill.Active {
	if !p.Options.Settings.Skills || c.Generator != nil {
		return nil
	}
	return &skill.Active{Library: p.Skills, Lend: p.Workspace.Lend}
}
