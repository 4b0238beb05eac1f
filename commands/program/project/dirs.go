package project

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/engine/lists"
	"gemline/settings"
	"gemline/settings/trust"
	"gemline/tools/skill"
)

// Skills returns the skills of the directory. It reads them at the first use.
func Skills(o *Options) *skill.Library {
	return &skill.Library{Dirs: func() []skill.Dir { return skillDirs(o) }, Off: func() []string { return o.Settings.DisabledSkills }}
}

// skillDirs returns the directories of skills, the strongest last.
func skillDirs(o *Options) (dirs []skill.Dir) {
	dirs = lists.Map(o.ActiveExtensions(), cli.SkillsOf)
	agents := func(top string) string { return filepath.Join(top, ".agents", "skills") }
	dirs = append(dirs, skill.Dir{Path: o.Paths.User("skills"), Source: skill.User},
		skill.Dir{Path: agents(o.Paths.Home), Source: skill.User})
	for _, path := range []string{o.Paths.Workspace("skills"), agents(o.Paths.Cwd)} {
		if o.projectFileCounts(path) {
			dirs = append(dirs, skill.Dir{Path: path, Source: skill.Workspace, Within: true})
		}
	}
	return dirs
}

// CommandDirs returns the directories of commands, the strongest last.
func CommandDirs(o *Options) (dirs []custom.Dir) {
	dirs = lists.Map(o.ActiveExtensions(), cli.CommandsOf)
	trusted := o.Trust.State == trust.Trusted
	for _, folder := range o.Settings.MarkdownCommands {
		dir := custom.Dir{Path: o.Paths.Folder(folder), Owner: "user", Markdown: true}
		switch inside := filepath.IsLocal(folder) && !strings.HasPrefix(folder, "~"); {
		case inside && trusted && settings.LinksOutside(dir.Path, o.Paths.Cwd) == "":
			dir.Owner, dir.Within = "workspace", true
		case inside || !slices.Contains(o.userSettings.MarkdownCommands, folder):
			continue // it is the project's, which leads nowhere else
		}
		dirs = append(dirs, dir)
	}
	dirs = append(dirs, custom.Dir{Path: o.Paths.User("commands"), Owner: "user"})
	if dir := o.Paths.Workspace("commands"); o.projectFileCounts(dir) {
		dirs = append(dirs, custom.Dir{Path: dir, Owner: "workspace", Within: true})
	}
	return dirs
}
