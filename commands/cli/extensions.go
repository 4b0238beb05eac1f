package cli

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/extension"
	"gemline/tools/shell/script"
	"gemline/tools/skill"
	"gemline/tools/source"
)

// extensionsCommand is gemline extensions.
type extensionsCommand struct {
	List      extensionsList      `cmd:"" default:"withargs" help:"List the extensions." slash:"list"`
	Install   extensionsInstall   `cmd:"" help:"Install one from a git repository, a release or a folder." slash:"install"`
	Link      extensionsLink      `cmd:"" help:"Use an extension in the folder where it is written." slash:"link"`
	Update    extensionsUpdate    `cmd:"" help:"Bring extensions to their newest version." slash:"update"`
	Uninstall extensionsUninstall `cmd:"" help:"Delete extensions, with all that was kept for them." slash:"uninstall,delete"`
	Enable    extensionsTurn      `cmd:"" help:"Switch an extension on." slash:"enable"`
	Disable   extensionsTurn      `cmd:"" help:"Switch an extension off." slash:"disable"`
	Config    extensionsConfig    `cmd:"" help:"Say what an extension wants to know." slash:"config"`
	New       extensionsNew       `cmd:"" help:"Begin an extension, from a template."`
	Validate  extensionsValidate  `cmd:"" help:"Check an extension that is being written."`
}

// An extensionSet holds the installed extensions, and the means to change them.
type extensionSet struct {
	out       *Output
	here      *Folder
	ask       *Asker
	hub       hub
	installed Extensions
	hooks     Hooks // of the current session, if there is a session
}

// ProvideSet returns the extensions.
func (*extensionsCommand) ProvideSet(out *Output, here *Folder, ask *Asker, hub hub, installed Extensions,
	hooks Hooks) *extensionSet {
	return &extensionSet{out, here, ask, hub, installed, hooks}
}

// An extensionRecord is an extension in gemline extensions list --json.
type extensionRecord struct {
	Name        string              `json:"name"`
	Version     string              `json:"version"`
	Description string              `json:"description,omitempty"`
	ID          string              `json:"id"`
	Path        string              `json:"path"`
	Active      bool                `json:"isActive"`
	Install     extension.Install   `json:"installMetadata"`
	Context     []string            `json:"contextFiles"`
	Servers     map[string]any      `json:"mcpServers,omitempty"`
	Excluded    []string            `json:"excludeTools,omitempty"`
	Hooks       map[string]any      `json:"hooks,omitempty"`
	Skills      []skill.Skill       `json:"skills,omitempty"`
	Commands    []string            `json:"commands,omitempty"`
	Agents      []string            `json:"agents,omitempty"`
	Rules       []string            `json:"policies,omitempty"`
	Settings    []extension.Setting `json:"settings,omitempty"`
	Unset       []string            `json:"unset,omitempty"` // settings without a value
}

type extensionsList struct {
	OutputFormat string `name:"output-format" short:"o" enum:"text,json" default:"text" hidden:"" help:"json is --json, as the Gemini CLI has it."`
}

// Run lists the extensions.
func (c *extensionsList) Run(ctx context.Context, set *extensionSet) error {
	set.out.JSON = set.out.JSON || c.OutputFormat == "json"
	list, problems := set.installed()
	l := listingOf("extensions", lists.Map(list, func(x extension.Extension) extensionRecord {
		b, c := contentsOf(x), x.Contents
		x.Install.Source = source.DisplayAddress(x.Install.Source)
		return extensionRecord{x.Name, x.Version, x.About, x.ID, x.Dir, x.Active, x.Install, append([]string{}, c.ContextFiles...),
			c.Servers, c.ExcludeTools, c.Hooks, b.skills, b.commands, b.agentNames(), b.rules, x.Settings, set.unset(ctx, x)}
	}))
	if _, err := set.extensionDir(); err != nil {
		problems = append(problems, err.Error())
	} else if len(list) == 0 {
		l.lines = []string{"No extensions installed."}
	}
	return set.out.list(l.add("problems", "warning: ", problems...), "")
}

// lines returns an extension's lines of the list.
func (x extensionRecord) lines() []string {
	from := x.Install.Source
	if from != "" {
		from += " (Type: " + x.Install.Type + ")"
	}
	var below []string
	if x.Description != "" {
		below = []string{text.OneLine(x.Description, 300)}
	}
	below = append(below, fields("ID", x.ID, "Path", x.Path, "Source", from, "Ref", x.Install.Ref, "Release tag", x.Install.ReleaseTag)...)
	if x.Install.Told != "" {
		below = append(below, x.Install.Told)
	}
	indent := func(line string) string { return " " + line }
	list := func(title string, names []string) {
		if len(names) > 0 {
			below = append(below, title+":")
		}
		below = append(below, lists.Map(names, indent)...)
	}
	list("Context files", x.Context)
	list("MCP servers", slices.Sorted(maps.Keys(x.Servers)))
	list("Excluded tools", x.Excluded)
	list("Hooks", slices.Sorted(maps.Keys(x.Hooks)))
	list("Commands", x.Commands)
	list("Agents", x.Agents)
	list("Rules", x.Rules)
	list("Agent skills", lists.Map(x.Skills, func(s skill.Skill) string { return s.Name + ": " + s.Description }))
	list("Settings", lists.Map(x.Settings, func(s extension.Setting) string {
		return s.Name + ": " + map[bool]string{true: "[not set]", false: "[set]"}[slices.Contains(x.Unset, s.Name)]
	}))
	state := map[bool]string{true: "", false: " - disabled"}[x.Active]
	lines := []string{fmt.Sprintf("%s (%s)%s", x.Name, x.Version, state)}
	return append(append(lines, lists.Map(below, indent)...), "")
}

// SkillsOf returns the directory of an extension's skills.
func SkillsOf(x extension.Extension) skill.Dir {
	return skill.Dir{Path: filepath.Join(x.Dir, "skills"), Source: skill.Extension, From: x.Name,
		Within: true, Fill: x.Fill}
}

// extensionDir returns the folder of the extensions.
func (set *extensionSet) extensionDir() (string, error) {
	s, err := set.here.settings()
	switch {
	case set.here.Paths.Home == "":
		return "", errors.New("there is no home directory, in which extensions would be")
	case err == nil && !s.Extensions:
		return "", errors.New("extensions are switched off, by experimental.extensionManagement in the settings")
	}
	return set.here.Paths.User("extensions"), nil
}

// named returns the installed extension of a name, or all for "".
func (set *extensionSet) named(name string) ([]extension.Extension, error) {
	if _, err := set.extensionDir(); err != nil {
		return nil, err
	}
	if name == "" {
		list, _ := set.installed()
		return list, nil
	}
	x, err := set.findExtension(name, false)
	return []extension.Extension{x}, err
}

// findExtension returns the installed extension with a name, a source, or a folder of that name. If
// broken is true, it also finds unusable extensions.
func (set *extensionSet) findExtension(name string, broken bool) (extension.Extension, error) {
	all := extensionFamily(set.installed)
	x, err := all.find(name)
	if err == nil {
		return x, nil
	}
	other := func(x extension.Extension) bool {
		return name != "" && x.Install.Source == name || strings.EqualFold(filepath.Base(x.Home), name)
	}
	if i := slices.IndexFunc(all.all, other); i >= 0 {
		return all.all[i], nil
	}
	if x, ok := extension.ReadBroken(set.here.Paths.User("extensions"), name); ok && broken {
		return x, nil
	}
	return x, err
}

type extensionsTurn struct {
	Name  string `arg:"" complete:"extension" help:"The extension's name."`
	Scope string `placeholder:"WHERE" enum:",user,workspace" default:"" help:"user: everywhere; workspace: in this folder and below. Everywhere if nothing is said."`
}

// Run switches an extension on or off.
func (c *extensionsTurn) Run(ctx context.Context, set *extensionSet, on toggle) error {
	dir, err := set.extensionDir()
	if err != nil {
		return err
	}
	x, err := set.findExtension(c.Name, true)
	if err != nil {
		return err
	}
	at, scope := "", cmp.Or(c.Scope, "user")
	said := fmt.Sprintf(`for scope "%s"`, scope)
	switch {
	case c.Scope == "workspace":
		at = set.here.Paths.Cwd
	case c.Scope == "" && bool(on):
		said = "in all scopes"
	}
	if err := extension.SetEnabled(ctx, dir, x.Name, at, bool(on)); err != nil {
		return err
	}
	return set.showExtension(map[string]any{"name": x.Name, "enabled": on, "scope": scope},
		fmt.Sprintf("Extension %q successfully %s %s.", x.Name, on.done(), said))
}

// showExtension prints the change. In a session, it adds when the change takes effect.
func (set *extensionSet) showExtension(v any, lines ...string) error {
	if set.ask.In == nil && !set.out.JSON {
		lines = append(lines, "it counts from the next start on; for commands, agents and skills /extensions reload is enough")
	}
	return set.out.show(v, lines...)
}

type extensionsUninstall struct {
	Names []string `arg:"" optional:"" complete:"extension" help:"Names, or sources."`
	All   bool     `help:"Delete all."`
}

// Run deletes extensions.
func (c *extensionsUninstall) Run(ctx context.Context, set *extensionSet) error {
	dir, err := set.extensionDir()
	if err != nil {
		return err
	}
	if c.All {
		if c.Names, err = extension.Folders(dir); err != nil { // includes unusable extensions
			return err
		}
		if len(c.Names) == 0 {
			return set.out.show(map[string]any{"uninstalled": []string{}}, "No extensions currently installed.")
		}
	}
	if len(c.Names) == 0 {
		return misused("which extension? gemline extensions uninstall NAME, or --all")
	}
	var done, lines []string
	var failed []error
	for _, name := range c.Names {
		x, err := set.findExtension(name, true)
		if err == nil {
			err = set.uninstall(ctx, dir, x)
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done = append(done, x.Name)
		lines = append(lines, fmt.Sprintf("Extension %q successfully uninstalled.", x.Name))
	}
	if len(done) > 0 {
		if err := set.showExtension(map[string]any{"uninstalled": done}, lines...); err != nil {
			return err
		}
	}
	return oneError(failed)
}

// oneError joins errors, on one line.
func oneError(all []error) error {
	if len(all) < 2 {
		return errors.Join(all...)
	}
	return errors.New(strings.Join(lists.Map(all, error.Error), "; "))
}

// uninstall deletes an extension: its folder or its link, its secrets and its switches.
func (set *extensionSet) uninstall(ctx context.Context, dir string, x extension.Extension) error {
	if err := set.forgetSecrets(ctx, x, append([]string{"", set.here.Paths.Cwd}, x.Install.Folders...)); err != nil {
		return fmt.Errorf("the secrets of %s are not forgotten: %w", x.Name, err)
	}
	if err := os.RemoveAll(x.Home); err != nil {
		return err
	}
	set.turnHooksOff(x.HooksFile())
	return extension.Forget(ctx, dir, x.Name)
}

// turnHooksOff switches off the hooks of a file in the current session: a hook whose command is
// gone would block each call.
func (set *extensionSet) turnHooksOff(file string) {
	if set.ask.In != nil {
		return
	}
	list, _ := set.hooks.List()
	for _, k := range list {
		other := func(o ListedHook) bool { return o.ID() == k.ID() && o.File != file }
		if k.File == file && !slices.ContainsFunc(list, other) {
			set.hooks.Turn(k.ID(), false)
		}
	}
}

//go:embed all:templates
var templates embed.FS

type extensionsNew struct {
	Path     string `arg:"" complete:"files" help:"The folder to make."`
	Template string `arg:"" optional:"" help:"custom-commands, exclude-tools, hooks, mcp-server, policies or skills."`
}

// Run creates the folder of an extension.
func (c *extensionsNew) Run(set *extensionSet) error {
	path := set.here.Paths.Folder(c.Path)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is there already", text.PrintableLine(path))
	}
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9-]+`).ReplaceAllString(filepath.Base(path), "-"), "-")
	said := ""
	if c.Template != "" {
		if _, err := fs.Stat(templates, "templates/"+c.Template); err != nil || strings.ContainsAny(c.Template, "/.") {
			return misused("there is no template %.60q, but custom-commands, exclude-tools, hooks, mcp-server, policies and skills", c.Template)
		}
		said = fmt.Sprintf(" from template %q", c.Template)
	}
	manifest, _ := text.JSON(map[string]string{"name": cmp.Or(name, "extension"), "version": "1.0.0"}, "  ")
	err := disk.ReplaceTree(path, func(fresh string) error {
		if err := os.Mkdir(fresh, 0o755); err != nil || c.Template == "" {
			return errors.Join(err, os.WriteFile(filepath.Join(fresh, "gemini-extension.json"),
				append(manifest, '\n'), 0o644))
		}
		tree, err := fs.Sub(templates, "templates/"+c.Template)
		if err != nil {
			return err
		}
		return fs.WalkDir(tree, ".", func(at string, d fs.DirEntry, err error) error {
			to := filepath.Join(fresh, filepath.FromSlash(at))
			if err != nil || d.IsDir() {
				return errors.Join(err, os.MkdirAll(to, 0o755))
			}
			b, err := fs.ReadFile(tree, at)
			if err != nil {
				return err
			}
			b = []byte(strings.ReplaceAll(string(b), "NAME", name))
			return os.WriteFile(to, b, map[bool]fs.FileMode{true: 0o755,
				false: 0o644}[strings.HasPrefix(string(b), "#!")])
		})
	})
	if err != nil {
		return err
	}
	return set.out.show(map[string]any{"path": path, "name": name, "template": c.Template},
		fmt.Sprintf("Successfully created new extension%s at %s.", said, path),
		fmt.Sprintf("You can install this using \"gemline extensions link %s\" to test it out.", script.Quote(c.Path)))
}
