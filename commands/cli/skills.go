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
	"gemline/engine/lists"
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
	All    bool     `help:"Name gemline's own skills, too."`
	NoDesc bool     `name:"nodesc" help:"Leave descriptions out."`
}

// Run lists the skills.
func (c *skillsList) Run(out *Output, here *Folder, skills *skill.Library) error {
	for _, word := range c.Show {
		switch word {
		case "all":
			c.All = true
		case "nodesc":
			c.NoDesc = true
		case "desc":
		default:
			return misused("skills list takes all and nodesc, not %.60q; gemline skills --help lists what else there is", word)
		}
	}
	all := lists.Map(skills.All(), func(s skill.Skill) skillRecord { return skillRecord{s, c.NoDesc} })
	isBuiltIn := func(s skillRecord) bool { return s.Source == skill.BuiltIn }
	shown := slices.DeleteFunc(slices.Clone(all), isBuiltIn)
	if c.All { // built-in skills come last
		shown = append(shown, lists.Filter(all, isBuiltIn)...)
	}
	l := listingOf("skills", shown)
	title := []string{"Discovered Agent Skills:", ""}
	if len(l.lines) == 0 {
		title = []string{"No skills discovered."}
	}
	l.lines = append(title, l.lines...)
	here.leftOut(out, "skills", here.Paths.Workspace("skills", "*", "SKILL.md"), filepath.Join(here.Paths.Cwd, ".agents", "skills", "*", "SKILL.md"))
	return out.list(l.add("problems", "problem: ", skills.Notes()...), "")
}

// A skillRecord is a skill in gemline skills list --json.
type skillRecord struct {
	skill.Skill
	brief bool // without its description
}

// lines returns a skill's lines of the list.
func (s skillRecord) lines() []string {
	head := s.Name + map[bool]string{false: " [Enabled]", true: " [Disabled]"}[s.Disabled]
	if s.Source == skill.BuiltIn {
		head += " [Built-in]"
	}
	lines := []string{head}
	if !s.brief {
		lines = append(lines, "  Description: "+s.Description)
	}
	if s.File != "" {
		lines = append(lines, "  Location:    "+s.File)
	}
	return append(lines, "")
}

type skillsReload struct{}

// Run reads the skills again.
func (*skillsReload) Run(out *Output, ask *Asker, skills *skill.Library) error {
	if ask.In != nil {
		return misused("only a session stores the skills that it has read: /skills reload")
	}
	before := lists.Map(skills.All(), nameOf)
	skills.Forget()
	after := lists.Map(skills.All(), nameOf)
	added, gone := without(after, before), without(before, after)
	lines := []string{fmt.Sprintf("skills: %d (%d new, %d gone)", len(after), len(added), len(gone))}
	return out.show(map[string]any{"skills": len(after), "new": added, "gone": gone},
		append(lines, skills.Notes()...)...)
}

func nameOf(s skill.Skill) string { return s.Name }

func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// ofSkills names the owner of skills.
type ofSkills struct {
	Scope string `short:"s" placeholder:"WHOSE" default:"user" enum:"user,workspace" help:"Whose: user or workspace."`
}

// A skillsDir is a folder of skills.
type skillsDir string

// ProvideDir returns the owner's folder of skills, with links resolved.
func (o ofSkills) ProvideDir(here *Folder) (skillsDir, error) {
	switch {
	case o.Scope == "user" && here.Paths.Home == "":
		return "", errors.New("there is no home directory, in which your skills would be")
	case o.Scope == "user":
		return skillsDir(disk.ResolveLinks(here.Paths.User("skills"))), nil
	case !here.Trusted:
		return "", errors.New("this folder is not trusted, so that its skills are not used; gemline trust add trusts it")
	}
	return skillsDir(disk.ResolveLinks(here.Paths.Workspace("skills"))), nil
}

type skillsInstall struct {
	ofSkills
	Path    string `placeholder:"DIR" help:"The folder of the source that the skills are in."`
	Consent bool   `aliases:"yes" help:"Don't ask."`
	Source  string `arg:"" complete:"dirs" help:"A folder, an archive (.skill, .zip, .tar.gz), or the address of a git repository."`
}

// Run copies skills.
func (c *skillsInstall) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, hub hub, skills *skill.Library, to skillsDir) error {
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
	if from = filepath.Join(from, c.Path); c.Path == "" {
		from = folderOfSkills(from)
	}
	err = out.installSkills(ctx, ask, skills, from, to, c.Scope, c.Consent, "installed", func(s skill.Skill, at string) error {
		return disk.ReplaceTree(at, func(fresh string) error { return source.Copy(ctx, s.Folder(), fresh) })
	})
	if err != nil && !strings.HasPrefix(from, note.Source) { // the error names a temporary folder
		err = errors.New(strings.ReplaceAll(err.Error(), text.PrintableLine(from),
			text.PrintableLine(source.DisplayAddress(note.Source))))
	}
	return err
}

// folderOfSkills returns the folder of skills in a repository at dir, unless dir itself has skills.
func folderOfSkills(dir string) string {
	usual := filepath.Join(dir, "skills")
	if list, notes := (skill.Dir{Path: dir}).Skills(); len(list)+len(notes) > 0 {
		return dir
	}
	if info, err := os.Stat(usual); err != nil || !info.IsDir() {
		return dir
	}
	return usual
}

type skillsLink struct {
	ofSkills
	Consent bool   `aliases:"yes" help:"Don't ask."`
	Path    string `arg:"" complete:"dirs" help:"The folder of a skill, or of several."`
}

// Run links skills.
func (c *skillsLink) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, skills *skill.Library, to skillsDir) error {
	from := disk.ResolveLinks(folderOfSkills(here.Paths.Folder(c.Path)))
	if err := refuseFile(from); err != nil {
		return err
	}
	if c.Scope == "workspace" && !disk.Inside(string(to), from) {
		return errors.New("links that lead out of a project's skills are not followed; install the skill, or link it for yourself: --scope user")
	}
	return out.installSkills(ctx, ask, skills, from, to, c.Scope, c.Consent, "linked", func(s skill.Skill, at string) error {
		switch {
		case s.Folder() == at:
			return nil
		case disk.Inside(at, s.Folder()):
			return fmt.Errorf("it is in %s, whose place the link would take", text.PrintableLine(at))
		}
		return disk.ReplaceTree(at, func(fresh string) error { return os.Symlink(s.Folder(), fresh) })
	})
}

// installSkills asks about the skills in a folder, and installs each with put.
func (out *Output) installSkills(ctx context.Context, ask *Asker, skills *skill.Library, from string, to skillsDir, scope string, consent bool,
	done string, put func(s skill.Skill, at string) error) error {
	list, notes := skill.Dir{Path: from, Source: skill.User, Within: true}.Skills()
	text.Each(notes, out.Notify)
	if len(list) == 0 && len(notes) > 0 {
		return errors.New("no skill is " + done)
	}
	if len(list) == 0 {
		more := ""
		if done == "installed" {
			more = "; --path names another folder of it"
		}
		return fmt.Errorf("there is no skill in %s: neither a file %s, nor a folder with one%s", text.PrintableLine(from), skill.FileName, more)
	}
	lines := []string{fmt.Sprintf("skills that steer the model once they are activated, and whose scripts it may run, go to %s:", to)}
	for _, s := range list {
		_, n := s.Tree()
		lines = append(lines, fmt.Sprintf("  * %s: %s (items in directory: %d)", s.Name, s.Description, n))
		if at := filepath.Join(string(to), s.Name); s.Folder() != at {
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
		at := filepath.Join(string(to), s.Name)
		if err := put(s, at); err != nil {
			return fmt.Errorf("the skill %s is not %s: %w", s.Name, done, err)
		}
		said = append(said, fmt.Sprintf("skill %s %s, in %s", s.Name, done, at))
	}
	skills.Forget()
	return out.show(map[string]any{"skills": lists.Map(list, nameOf), "scope": scope, "done": done, "path": to}, said...)
}

type skillsUninstall struct {
	ofSkills
	Name string `arg:"" complete:"skill" help:"The skill's name."`
}

// Run deletes a skill.
func (c *skillsUninstall) Run(out *Output, skills *skill.Library, to skillsDir) error {
	dir := string(to)
	list, _ := skill.Dir{Path: dir}.Skills()
	i := slices.IndexFunc(list, func(s skill.Skill) bool { return strings.EqualFold(s.Name, c.Name) })
	if i < 0 || list[i].Folder() == dir {
		near := ""
		if name := text.Nearest(c.Name, lists.Map(skills.All(), nameOf)); name != "" {
			near = "; gemline skills list says where " + name + " is"
		}
		return misused("no skill %.60q is installed in %s%s", c.Name, text.PrintableLine(dir), near)
	}
	if err := os.RemoveAll(list[i].Folder()); err != nil {
		return err
	}
	skills.Forget()
	return out.show(map[string]any{"name": list[i].Name, "scope": c.Scope, "done": "uninstalled"},
		fmt.Sprintf("skill %s uninstalled, from %s", list[i].Name, dir))
}

type (
	skillName struct {
		Name string `arg:"" complete:"skill" help:"The skill's name."`
	}
	skillsEnable  struct{ skillName }
	skillsDisable struct {
		skillName
		Scope settings.Scope `short:"s" placeholder:"WHOSE" default:"workspace" enum:"user,workspace" help:"In whose settings: workspace or user."`
	}
)

// ProvideSkill returns the skill of that name.
func (s skillName) ProvideSkill(skills *skill.Library) (skill.Skill, error) {
	return skillFamily(skills).find(s.Name)
}

// Run enables a skill in all settings files.
func (*skillsEnable) Run(ctx context.Context, out *Output, here *Folder, skills *skill.Library, s skill.Skill) error {
	scopes := []settings.Scope{settings.User}
	if here.Trusted && !here.Paths.AtHome() {
		scopes = append(scopes, settings.Workspace)
	}
	var lines []string
	for _, scope := range scopes {
		done, err := here.switchIn(ctx, scope, disabledSkills, []string{s.Name}, strings.EqualFold, true)
		if err != nil {
			return err
		}
		if !done.Unchanged {
			skills.Switch(s.Name, true)
			lines = append(lines, fmt.Sprintf("skill %s enabled, in %s", s.Name, done.Path))
		}
	}
	return out.listing(map[string]any{"name": s.Name, "enabled": true}, lines, fmt.Sprintf("skill %s is enabled already", s.Name))
}

// Run disables a skill.
func (c *skillsDisable) Run(ctx context.Context, out *Output, here *Folder, skills *skill.Library, s skill.Skill) error {
	done, err := here.switchIn(ctx, c.Scope, disabledSkills, []string{s.Name}, strings.EqualFold, false)
	if err != nil {
		return err
	}
	if c.Scope == settings.Workspace && !here.Trusted {
		out.Notify(unusedHere)
	}
	skills.Switch(s.Name, false)
	return out.show(map[string]any{"name": s.Name, "enabled": false, "scope": c.Scope},
		fmt.Sprintf("skill %s disabled, in %s", s.Name, done.Path))
}

// disabledSkills is the key that lists disabled skills.
const disabledSkills = "skills.disabled"
