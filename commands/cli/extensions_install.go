package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/project"
	"gemline/tools/source"
)

type extensionsInstall struct {
	Ref        string `placeholder:"REF" help:"A branch, a tag or a commit of the repository."`
	AutoUpdate bool   `name:"auto-update" help:"Have sessions update it, unless it can run something else then."`
	PreRelease bool   `name:"pre-release" help:"Take releases that are not final, too."`
	Consent    bool   `aliases:"yes" help:"Agree to its commands, and don't ask; so does --yes."`
	Skip       bool   `name:"skip-settings" help:"Don't ask for its settings."`
	Source     string `arg:"" complete:"dirs" help:"The address of a git repository, or a folder."`
}

type extensionsLink struct {
	Consent bool   `aliases:"yes" help:"Agree to its commands, and don't ask; so does --yes."`
	Path    string `arg:"" complete:"dirs" help:"The extension's folder."`
}

// Run installs an extension.
func (c *extensionsInstall) Run(ctx context.Context, set *extensionSet) error {
	note, err := packageAt(set.here.Paths, c.Source)
	if err != nil {
		return err
	}
	if note.Type == "local" && (c.Ref != "" || c.AutoUpdate) {
		return misused("--ref and --auto-update are for repositories, not for folders")
	}
	note.Ref, note.AutoUpdate, note.PreRelease = c.Ref, c.AutoUpdate, c.PreRelease
	return set.install(ctx, note, nil, c.Consent, c.Skip)
}

// packageAt returns the source of a package: an address, a folder or an archive.
func packageAt(paths project.Paths, said string) (extension.Install, error) {
	if address := source.RepositoryAddress(said); address != "" {
		return extension.Install{Source: address, Type: "git"}, nil
	}
	path := paths.Folder(said)
	if _, err := os.Stat(path); err != nil {
		return extension.Install{}, misused("Install source not found. %s is no folder, and %.80q is no address of a repository",
			text.PrintableLine(path), said)
	}
	if !source.IsArchive(path) {
		return extension.Install{Source: path, Type: "local"}, refuseFile(path)
	}
	return extension.Install{Source: path, Type: "local"}, nil
}

// refuseFile returns an error if a file is at the path of a folder.
func refuseFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return misused("%s is a file; name its folder", text.PrintableLine(path))
	}
	return nil
}

// Run links an extension.
func (c *extensionsLink) Run(ctx context.Context, set *extensionSet) error {
	path := set.here.Paths.Folder(c.Path)
	if err := refuseFile(path); err != nil {
		return err
	}
	return set.install(ctx, extension.Install{Source: path, Type: "link"}, nil, c.Consent, true)
}

// permitted returns an error if the settings forbid extensions from a source.
func (set *extensionSet) permitted(note extension.Install) error {
	s, err := set.here.settings()
	if err != nil {
		return err
	}
	for _, key := range []string{"security.allowedExtensions", "security.blockGitExtensions"} {
		if said := s.Misread(key); said != "" {
			return errors.New(said)
		}
	}
	if allowed := s.AllowedExtensions; len(allowed) > 0 {
		for _, pattern := range allowed {
			if re, err := regexp.Compile(pattern); err == nil && re.MatchString(note.Source) {
				return nil
			}
		}
		return fmt.Errorf("security.allowedExtensions in the settings does not allow extensions from %s", text.PrintableLine(source.DisplayAddress(note.Source)))
	}
	if s.BlockGitExtensions && note.Type != "local" && note.Type != "link" {
		return errors.New("security.blockGitExtensions in the settings takes no extensions from git")
	}
	return nil
}

// A hub returns the server of repositories and releases.
type hub func() (source.Hub, error)

// ProvideHub returns the hub in the environment.
func (*grammar) ProvideHub(here *Folder, project Project, reach Network) hub {
	return func() (source.Hub, error) {
		l, err := project.Launcher()
		return source.Hub{Launcher: l, API: strings.TrimSuffix(here.getenv("GITHUB_API_URL"), "/"),
			Server: strings.TrimSuffix(here.getenv("GITHUB_SERVER_URL"), "/"),
			Token:  here.getenv("GITHUB_TOKEN"), UserAgent: "gemline", Network: reach()}, err
	}
}

// fetch copies the files of an extension into a directory, and returns how it got them.
func (out *Output) fetch(ctx context.Context, hub hub, note extension.Install, to string) (extension.Install, error) {
	switch note.Type {
	case "link":
		return note, os.MkdirAll(to, 0o755)
	case "local":
		if source.IsArchive(note.Source) {
			return note, source.Unpack(note.Source, to)
		}
		return note, source.Copy(ctx, note.Source, to)
	}
	h, err := hub()
	if err != nil {
		return note, err
	}
	if repository, ok := h.Repository(note.Source); ok {
		r, err := h.Release(ctx, repository, note.Ref, note.PreRelease)
		if err == nil {
			note.Type, note.ReleaseTag = "github-release", r.Tag
			return note, h.Download(ctx, r, to)
		}
		if !errors.Is(err, source.ErrNoRelease) {
			out.Notify(fmt.Sprintf("releases of %s can't be had, so its repository is used: %v", repository, err))
		}
	}
	note.Type = "git"
	note.Commit, err = h.Clone(ctx, note.Source, note.Ref, to)
	return note, err
}

// homeFor returns the folder for an extension: that of its old version, or a new folder.
func (set *extensionSet) homeFor(dir string, x extension.Extension, old *extension.Extension) (string, error) {
	list, _ := set.installed()
	i := slices.IndexFunc(list, func(o extension.Extension) bool { return strings.EqualFold(o.Name, x.Name) })
	switch {
	case old == nil && i >= 0:
		return "", fmt.Errorf("extension %q is already installed; uninstall it first, or update it", x.Name)
	case old != nil && !strings.EqualFold(old.Name, x.Name) && (old.MigratedTo == "" || i >= 0):
		return "", fmt.Errorf("the new version of %s calls itself %s, so it is not installed in its place", old.Name, x.Name)
	case old != nil && old.Name == x.Name:
		return old.Home, nil
	}
	home := filepath.Join(dir, x.Name)
	if _, err := os.Lstat(home); err == nil { // it belongs to another extension, or a broken one
		return "", fmt.Errorf("%s is there already, with something else in it; gemline extensions uninstall %s deletes it", text.PrintableLine(home), x.Name)
	}
	return home, nil
}

// install installs an extension, or updates old. After an error the old version is
// unchanged.
func (set *extensionSet) install(ctx context.Context, note extension.Install, old *extension.Extension,
	consent, skip bool) (err error) {
	dir, err := set.extensionDir()
	if err == nil {
		err = set.permitted(note)
	}
	if err != nil {
		return err
	}
	temp, err := tempIn(dir)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	fresh := filepath.Join(temp, "new")
	if note, err = set.out.fetch(ctx, set.hub, note, fresh); err != nil {
		return err
	}
	at := fresh
	var kept []string
	if note.Type == "link" {
		at = note.Source
	} else if kept, err = noteFiles(fresh, old); err != nil {
		return err
	}
	x, err := extension.Read(at, set.here.Paths.Cwd)
	if err != nil { // the error names a temporary folder, which is deleted
		return errors.New(strings.ReplaceAll(err.Error(), fresh, text.PrintableLine(source.DisplayAddress(note.Source))))
	}
	problems, _ := checkExtension(x)
	for _, p := range problems {
		set.out.Notify(text.PrintableLine("not used of " + x.Name + ": " +
			strings.ReplaceAll(p, at+string(filepath.Separator), "")))
	}
	x.ID = extension.ID(note.Source, x.Name)
	home, err := set.homeFor(dir, x, old)
	if err != nil {
		return err
	}
	if err := set.consentTo(ctx, x, note, old, consent); err != nil {
		return err
	}
	if old != nil {
		if _, err := os.Lstat(old.Home); err != nil {
			return fmt.Errorf("%s was uninstalled meanwhile", old.Name)
		}
		if b, err := disk.Read(old.EnvFile(), 1<<20); err == nil {
			env := filepath.Join(fresh, ".env")
			disk.Restrict(env)
			if err := os.WriteFile(env, b, 0o600); err != nil {
				return err
			}
		}
	}
	if err := extension.WriteInstall(fresh, note); err != nil {
		return err
	}
	if err := disk.ReplaceTree(home, func(ready string) error { return os.Rename(fresh, ready) }); err != nil {
		return err
	}
	if old != nil && old.Home != home { // the update has moved it
		set.turnHooksOff(old.HooksFile())
		err = errors.Join(os.RemoveAll(old.Home), extension.Forget(ctx, dir, old.Name))
	}
	x.Home, x.Install = home, note
	if old != nil && err == nil {
		err = set.carrySecrets(ctx, *old, x)
	}
	if !skip && err == nil {
		err = set.askSettings(ctx, x, old)
	}
	if len(kept) > 0 {
		set.out.Notify(fmt.Sprintf("kept in the folder of %s, since it came later: %s", x.Name,
			text.PrintableLine(text.Shorten(strings.Join(kept, ", "), 300))))
	}
	return errors.Join(err, set.report(ctx, x, note, old))
}

// tempIn makes a temporary directory in dir, and makes dir if needed. It deletes temporary
// directories of killed processes.
func tempIn(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".gemline-*"))
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && time.Since(info.ModTime()) > 24*time.Hour {
			os.RemoveAll(path)
		}
	}
	return os.MkdirTemp(dir, ".gemline-")
}

// noteFiles records the files of a new version. Then it copies files that were added to the old
// version, such as data of its server.
func noteFiles(fresh string, old *extension.Extension) (kept []string, err error) {
	if err := extension.WriteFileList(fresh); err != nil || old == nil {
		return nil, err
	}
	_, added, err := extension.Modified(old.Home)
	if err != nil {
		return nil, err
	}
	return extension.KeepAdded(old.Home, fresh, added)
}

// report prints the change.
func (set *extensionSet) report(ctx context.Context, x extension.Extension, note extension.Install,
	old *extension.Extension) error {
	if missing := set.unset(ctx, x); len(missing) > 0 {
		set.out.Notify(fmt.Sprintf("Extension %q has missing settings: %s. Please run \"gemline extensions config %s\".", x.Name, strings.Join(missing, ", "), x.Name))
	}
	if x.Themes {
		set.out.Notify(x.Name + " brings themes, which mean nothing here")
	}
	said, was := fmt.Sprintf("Extension %q installed successfully and enabled.", x.Name), ""
	switch {
	case old != nil:
		was = old.Version
		said = fmt.Sprintf("Extension %q successfully updated: %s → %s.", x.Name, old.Version, x.Version)
		if old.Install.Source != note.Source || old.Name != x.Name {
			said = fmt.Sprintf("Extension %q has moved and is now %q, from %s: %s → %s.", old.Name,
				x.Name, source.DisplayAddress(note.Source), old.Version, x.Version)
		}
	case note.Type == "link":
		said = fmt.Sprintf("Extension %q linked successfully and enabled.", x.Name)
	}
	return set.showExtension(map[string]any{"name": x.Name, "version": x.Version, "was": was,
		"type": note.Type, "source": source.DisplayAddress(note.Source)}, said)
}

// consentTo asks for consent to the programs of an extension, unless the user has already
// consented.
func (set *extensionSet) consentTo(ctx context.Context, x extension.Extension, note extension.Install,
	old *extension.Extension, given bool) error {
	asks := consentText(x)
	title := fmt.Sprintf("Installing extension %q %s.", x.Name, x.Version)
	if old != nil {
		was := consentText(*old)
		title = fmt.Sprintf("Updating extension %q %s to %q %s", old.Name, old.Version, x.Name, x.Version)
		switch {
		case !slices.Equal(was, asks):
			title += ", which can run something else; + is new, - is gone:"
			asks = compared(was, asks)
		case old.Name == x.Name && old.Install.Source == note.Source:
			return nil
		default:
			title += "."
		}
	}
	lines := append([]string{title, "It comes from " + source.DisplayAddress(note.Source) +
		". Extensions may bring unexpected behaviour: look at where one comes from, and at its author."}, asks...)
	if given {
		lines = append([]string{"You have consented to the following:"}, lines...)
	}
	if err := set.out.beside().lines(lines); err != nil || given {
		return err
	}
	yes, err := set.ask.confirm(ctx, "Do you want to continue?")
	switch {
	case errors.Is(err, errAsks):
		err = fmt.Errorf("version %s %w", text.PrintableLine(x.Version), errAsks)
	case err == nil && !yes:
		err = fmt.Errorf("installation cancelled for %q", x.Name)
	}
	return err
}

// compared marks the lines that differ between an old and a new version.
func compared(was, now []string) (lines []string) {
	for _, l := range now {
		mark := "+ "
		if slices.Contains(was, l) {
			mark = "  "
		}
		lines = append(lines, mark+l)
	}
	gone := lists.Filter(was, func(l string) bool { return !slices.Contains(now, l) })
	return append(lines, lists.Map(gone, func(l string) string { return "- " + l })...)
}

// consentText lists the programs of an extension and its texts for the model, a line each. It does
// not depend on the extension's folder.
func consentText(x extension.Extension) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf(format, args...), x.Dir, "(its folder)"))
	}
	servers := func(whose string, servers map[string]any) {
		none := func(name string) (string, bool) { return "${" + name + "}", true }
		if len(servers) > 0 {
			add("%s will run the following MCP servers:", whose)
		}
		for _, s := range settings.ServersIn(servers, none) {
			said := maps.Clone(s.Raw)
			delete(said, "trust") // trust has no effect here
			whole, _ := text.JSON(said, "")
			b, _ := text.JSON(settings.MaskWritten([]string{"mcpServers", s.Name}, said), "")
			where := "local"
			if s.Command == "" {
				where = "remote"
			}
			if string(b) != string(whole) { // the hash shows a change of a masked value
				where += fmt.Sprintf(", sha256 %.6x",
					sha256.Sum256([]byte(strings.ReplaceAll(string(whole), x.Dir, ""))))
			}
			add("  * %s (%s): %s", s.Name, where, b)
		}
	}
	c := x.Contents
	servers("This extension", c.Servers)
	if len(c.Hooks) > 0 {
		add("This extension contains Hooks which can automatically execute commands:")
		for _, event := range slices.Sorted(maps.Keys(c.Hooks)) {
			b, _ := text.JSON(c.Hooks[event], "")
			add("  * %s: %s", event, b)
		}
	}
	for _, f := range c.ContextFiles {
		add("It gives the model the contents of %s", f)
	}
	if len(c.ExcludeTools) > 0 {
		add("It excludes the tools %s", strings.Join(c.ExcludeTools, ", "))
	}
	b := contentsOf(x)
	for _, part := range []struct {
		says  string
		names []string
	}{{"It has commands", b.commands}, {"It has agents", b.agentNames()}, {"It has rules, which can ask and deny", b.rules}} {
		if len(part.names) > 0 {
			add("%s: %s", part.says, strings.Join(part.names, ", "))
		}
	}
	for _, d := range b.agents {
		servers("Its agent "+d.Name, d.Access.Servers)
		if d.Remote != nil {
			add("Its agent %s is on %s", d.Name, d.Remote.Host())
		}
		for _, command := range d.Remote.Commands() {
			add("  * what it is shown is what this writes: %s", command)
		}
	}
	if len(b.skills) > 0 {
		add("Agent Skills:")
	}
	for _, s := range b.skills {
		_, n := s.Tree()
		add("  * %s: %s", s.Name, s.Description)
		add("    (Source: %s) (%d items in directory)", s.File, n)
	}
	for _, s := range x.Settings {
		add("It wants to know: %s (%s)", s.Name, s.EnvVar)
	}
	return lines
}
