package program

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands/cli"
	"gemline/commands/custom"
	"gemline/settings"
	"gemline/settings/trust"
	"gemline/tools/skill"
)

// skillLibrary returns the skills of the directory, which are read when they are asked for.
func (o *Options) skillLibrary() *skill.Library {
	return &skill.Library{Dirs: o.skillDirs, Off: func() []string { return o.settings.DisabledSkills }}
}

// skillDirs returns where skills are looked for, the strongest last.
func (o *Options) skillDirs() (dirs []skill.Dir) {
	for _, x := range o.active() {
		dirs = append(dirs, cli.SkillsOf(x))
	}
	agents := func(top string) string { return filepath.Join(top, ".agents", "skills") }
	dirs = append(dirs, skill.Dir{Path: o.paths.User("skills"), Source: skill.User},
		skill.Dir{Path: agents(o.paths.Home), Source: skill.User})
	for _, path := range []string{o.paths.Workspace("skills"), agents(o.paths.Cwd)} {
		if o.brings(path) {
			dirs = append(dirs, skill.Dir{Path: path, Source: skill.Workspace, Within: true})
		}
	}
	return dirs
}

// commandDirs returns where commands are looked for, the strongest last.
func (o *Options) commandDirs() (dirs []custom.Dir) {
	for _, x := range o.active() {
		dirs = append(dirs, cli.CommandsOf(x))
	}
	trusted := o.trust.State == trust.Trusted
	for _, folder := range o.settings.MarkdownCommands {
		dir := custom.Dir{Path: o.paths.Folder(folder), Owner: "user", Markdown: true}
		switch inside := filepath.IsLocal(folder) && !strings.HasPrefix(folder, "~"); {
		case inside && trusted && settings.Astray(dir.Path, o.paths.Cwd) == "":
			dir.Owner, dir.Within = "workspace", true
		case inside || !slices.Contains(o.userSettings.MarkdownCommands, folder):
			continue // it is the project's, which leads nowhere else
		}
		dirs = append(dirs, dir)
	}
	dirs = append(dirs, custom.Dir{Path: o.paths.User("commands"), Owner: "user"})
	if dir := o.paths.Workspace("commands"); o.brings(dir) {
		dirs = append(dirs, custom.Dir{Path: dir, Owner: "workspace", Within: true})
	}
	return dirs
}
