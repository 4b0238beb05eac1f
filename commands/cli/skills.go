package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/tools/skill"
	"gemline/tools/source"
)

// skillsCommand is gemline skills.
type skillsCommand struct {
	List      skillsList      `cmd:"" default:"withargs" help:"List the skills." slash:"list"`
	Install   skillsInstall   `cmd:"" help:"Copy skills from a folder to yours or the project's."`
	Link      skillsLink      `cmd:"" help:"Use skills in the folder where they are written." slash:"link"`
	Uninstall skillsUninstall `cmd:"" help:"Delete a skill that was installed, or its link."`
	Enable    skillsEnable    `cmd:"" help:"Switch a skill on again." slash:"enable"`
	Disable   skillsDisable   `cmd:"" help:"Switch a skill off." slash:"disable"`
	Reload    skillsReload    `cmd:"" hidden:"" help:"Read the skills again, in a session." slash:"reload,refresh"`
}

type skillsList struct {
	Show   []string `arg:"" optional:"" hidden:"" help:"all and nodesc, as in a session."`
	All    bool     `help:"Name those that come with gemline, too."`
	NoDesc bool     `name:"nodesc" help:"Leave descriptions out."`
}

// Run lists the skills.
func (c *skillsList) Run(out *Output, skills *skill.Library) error {
	for _, word := range c.Show {
		switch word {
		case "all":
			c.All = true
		case "nodesc":
			c.NoDesc = true
		case "desc":
		default:
			return misused("skills list takes all and nodesc, not %.60q", word)
		}
	}
	list := slices.DeleteFunc(slices.Clone(skills.All()),
		func(s skill.Skill) bool { return s.Source == skill.BuiltIn && !c.All })
	own := func(s skill.Skill) int { return map[bool]int{true: 1}[s.Source == skill.BuiltIn] } // which come last
	slices.SortStableFunc(list, func(a, b skill.Skill) int { return own(a) - own(b) })
	problems := skills.Notes()
	lines := []string{"No skills discovered."}
	if len(list) > 0 {
		lines = []string{"Discovered Agent Skills:", ""}
	}
	for _, s := range list {
		line := s.Name + map[bool]string{false: " [Enabled]", true: " [Disabled]"}[s.Disabled]
		if s.Source == skill.BuiltIn {
			line += " [Built-in]"
		}
		if lines = append(lines, line); !c.NoDesc {
			lines = append(lines, "  Description: "+s.Description)
		}
		if s.File != "" {
			lines = append(lines, "  Location:    "+s.File)
		}
		lines = append(lines, "")
	}
	for _, p := range problems {
		lines = append(lines, "not used: "+p)
	}
	return out.show(map[string]any{"skills": list, "problems": problems}, lines...)
}

type skillsReload struct{}

// Run reads the skills again.
func (*skillsReload) Run(out *Output, ask *Asker, skills *skill.Library) error {
	if ask.In != nil {
		return misused("only a session keeps what it has read: /skills reload")
	}
	before := each(skills.All(), nameOf)
	skills.Forget()
	after := each(skills.All(), nameOf)
	added, gone := without(after, before), without(before, after)
	lines := []string{fmt.Sprintf("skills: %d, of which %d are new and %d are gone", len(after), len(added), len(gone))}
	return out.show(map[string]any{"skills": len(after), "new": added, "gone": gone},
		append(lines, skills.Notes()...)...)
}

func nameOf(s skill.Skill) string { return s.Name }

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// ofSkills says whose skills are meant.
type ofSkills struct {
	Scope string `short:"s" placeholder:"WHOSE" default:"user" enum:"user,workspace" help:"Whose: user or workspace."`
}

// dir returns the folder of skills.
func (o ofSkills) dir(here *Folder) (string, error) {
	switch {
	case o.Scope == "user" && here.Paths.Home == "":
		return "", errors.New("there is no home directory, in which your skills would be")
	case o.Scope == "user":
		return here.Paths.User("skills"), nil
	case !here.Trusted:
		return "", errors.New("this folder is not trusted, so that its skills are not used; gemline trust add trusts it")
	}
	return here.Paths.Workspace("skills"), nil
}

type skillsInstall struct {
	ofSkills
	Path    string `placeholder:"DIR" help:"The folder of the source that the skills are in."`
	Consent bool   `aliases:"yes" help:"Don't ask."`
	Source  string `arg:"" complete:"dirs" help:"A folder, an archive (.skill, .zip, .tar.gz), or the address of a git repository."`
}

// Run copies skills.
func (c *skillsInstall) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, hub hub, skills *skill.Library) error {
	to, err := c.dir(here)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(cmp.Or(c.Path, ".")) {
		return misused("--path must stay in the source")
	}
	note, err := packageAt(here.Paths, c.Source)
	if err != nil {
		return err
	}
	from := note.Source
	if note.Type != "local" || source.IsArchive(from) {
		temp, err := os.MkdirTemp("", "gemline-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		from = filepath.Join(temp, "new")
		if _, err := out.fetch(ctx, hub, note, from); err != nil {
			return err
		}
	}
	from = filepath.Join(from, c.Path)
	if list, notes := (skill.Dir{Path: from}).Skills(); len(list)+len(notes) == 0 && c.Path == "" {
		const usual = "skills" // where repositories have them
		if info, err := os.Stat(filepath.Join(from, usual)); err == nil && info.IsDir() {
			from = filepath.Join(from, usual)
		}
	}
	err = out.installSkills(ctx, ask, skills, from, to, c.Scope, c.Consent, "installed", func(s skill.Skill, at string) error {
		return disk.ReplaceTree(at, func(fresh string) error { return source.Copy(ctx, s.Folder(), fresh) })
	})
	if err != nil && !strings.HasPrefix(from, note.Source) { // the error names a temporary folder
		err = errors.New(strings.ReplaceAll(err.Error(), text.EscapeLine(from),
			text.EscapeLine(source.Shown(note.Source))))
	}
	return err
}

type skillsLink struct {
	ofSkills
	Consent bool   `aliases:"yes" help:"Don't ask."`
	Path    string `arg:"" complete:"dirs" help:"The folder of a skill, or of several."`
}

// Run links skills.
func (c *skillsLink) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, skills *skill.Library) error {
	to, err := c.dir(here)
	if err != nil {
		return err
	}
	from := disk.Follow(here.Paths.Folder(c.Path))
	if c.Scope == "workspace" && !disk.Inside(disk.Follow(to), from) {
		return errors.New("links that lead out of a project's skills are not followed; install the skill, or link it for yourself: --scope user")
	}
	return out.installSkills(ctx, ask, skills, from, to, c.Scope, c.Consent, "linked", func(s skill.Skill, at string) error {
		if s.Folder() == at {
			return nil
		}
		return disk.ReplaceTree(at, func(fresh string) error { return os.Symlink(s.Folder(), fresh) })
	})
}

// installSkills asks about the skills in a folder, and puts each into another one.
func (out *Output) installSkills(ctx context.Context, ask *Asker, skills *skill.Library, from, to, scope string, consent bool,
	done string, put func(s skill.Skill, at string) error) error {
	list, notes := skill.Dir{Path: from, Source: skill.User, Within: true}.Skills()
	for _, note := range notes {
		out.Notify(note)
	}
	if len(list) == 0 && len(notes) > 0 {
		return errors.New("no skill is " + done)
	}
	if len(list) == 0 {
		return fmt.Errorf("there is no skill in %s: neither a file %s, nor a folder with one; --path names another folder of it", text.EscapeLine(from), skill.FileName)
	}
	lines := []string{fmt.Sprintf("skills that steer the model once they are activated, and whose scripts it may run, go to %s:", to)}
	for _, s := range list {
		_, n := s.Tree()
		lines = append(lines, fmt.Sprintf("  * %s: %s (items in directory: %d)", s.Name, s.Description, n))
		if at := filepath.Join(to, s.Name); s.Folder() != at {
			if _, err := os.Lstat(at); err == nil {
				lines = append(lines, "    it takes the place of the one that is there")
			}
		}
	}
	if err := out.beside().lines(lines); err != nil {
		return err
	}
	if !consent {
		if yes, err := ask.confirm(ctx, "go on?"); err != nil || !yes {
			return cmp.Or(err, errors.New("nothing is "+done))
		}
	}
	var said []string
	for _, s := range list {
		at := filepath.Join(to, s.Name)
		if err := put(s, at); err != nil {
			return fmt.Errorf("the skill %s is not %s: %w", s.Name, done, err)
		}
		said = append(said, fmt.Sprintf("skill %s %s, in %s", s.Name, done, at))
	}
	skills.Forget()
	return out.show(map[string]any{"skills": each(list, nameOf), "scope": scope, "done": done, "path": to}, said...)
}

type skillsUninstall struct {
	ofSkills
	Name string `arg:"" complete:"skill" help:"The skill's name."`
}

// Run deletes a skill.
func (c *skillsUninstall) Run(out *Output, here *Folder, skills *skill.Library) error {
	dir, err := c.dir(here)
	if err != nil {
		return err
	}
	list, _ := skill.Dir{Path: dir}.Skills()
	i := slices.IndexFunc(list, func(s skill.Skill) bool { return strings.EqualFold(s.Name, c.Name) })
	if i < 0 || list[i].Folder() == dir {
		near := ""
		if name := text.Nearest(c.Name, each(skills.All(), nameOf)); name != "" {
			near = "; gemline skills list says where " + name + " is"
		}
		return misused("no skill %.60q is installed in %s%s", c.Name,
			text.EscapeLine(dir), near)
	}
	if err := os.RemoveAll(list[i].Folder()); err != nil {
		return err
	}
	skills.Forget()
	return out.show(map[string]any{"name": list[i].Name, "scope": c.Scope, "done": "uninstalled"},
		fmt.Sprintf("skill %s uninstalled, from %s", list[i].Name, dir))
}

type (
	skillsEnable struct {
		Name string `arg:"" complete:"skill" help:"The skill's name."`
	}
	skillsDisable struct {
		Name  string `arg:"" complete:"skill" help:"The skill's name."`
		Scope string `short:"s" placeholder:"WHOSE" default:"workspace" enum:"user,workspace" help:"In whose settings: workspace or user."`
	}
)

// Run switches a skill on in all files of settings.
func (c *skillsEnable) Run(ctx context.Context, out *Output, here *Folder, skills *skill.Library) error {
	scopes := []settings.Scope{settings.User}
	if here.Trusted && !here.Paths.AtHome() {
		scopes = append(scopes, settings.Workspace)
	}
	name, said, err := turnSkill(ctx, here, skills, c.Name, true, scopes...)
	if err != nil {
		return err
	}
	return out.listing(map[string]any{"name": name, "enabled": true}, said, fmt.Sprintf("skill %s is enabled already", name))
}

// Run switches a skill off.
func (c *skillsDisable) Run(ctx context.Context, out *Output, here *Folder, skills *skill.Library) error {
	name, said, err := turnSkill(ctx, here, skills, c.Name, false, settings.Scope(c.Scope))
	if err != nil {
		return err
	}
	return out.show(map[string]any{"name": name, "enabled": false, "scope": c.Scope}, said...)
}

// turnSkill switches a skill on or off in files of settings. It returns the skill's own
// spelling of its name, and what was done.
func turnSkill(ctx context.Context, here *Folder, skills *skill.Library, name string, on toggle,
	scopes ...settings.Scope) (string, []string, error) {
	s, err := member("skill", "gemline skills list --all", name, skills.All(), nameOf)
	if err != nil {
		return "", nil, err
	}
	var said []string
	for _, scope := range scopes {
		done, err := here.switchIn(ctx, scope, "skills.disabled", []string{s.Name}, strings.EqualFold, on)
		if err != nil {
			return "", nil, err
		}
		if !bool(on) || !done.Same {
			skills.Switch(s.Name, bool(on))
			said = append(said, fmt.Sprintf("skill %s %s, in %s", s.Name, on.done(), done.Path))
		}
	}
	return s.Name, said, nil
}
