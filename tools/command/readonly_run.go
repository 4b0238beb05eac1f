package command

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/worktree"
)

// watched is how long a command looks that goes on and on, as tail -f does.
const watched = 10 * time.Second

// passes reports whether a command in dir has met with files hidden from it, as a
// search through directories does, which then has not failed.
func passes(o shell.Outcome, dir string, hidden []string) bool {
	_, said := launch.ParseDenials(o.Output)
	return slices.ContainsFunc(said, func(r launch.Denial) bool {
		return slices.Contains(hidden, filepath.Clean(disk.Absolute(r.Path, dir, "")))
	})
}

// mostSeen and mostSecrets are how many files a workspace may hold, and how
// many of them may hold secrets, for commands to be confined to read-only in it.
const (
	mostSeen    = 400_000
	mostSecrets = 2000
)

// readOnlyView returns what the read-only command sees, or why it can't be confined to
// read-only. Files of the workspace that may hold secrets are hidden from it.
func (c shellCall) readOnlyView() (look *launch.ReadOnlyView, why string) {
	look = &launch.ReadOnlyView{Shown: append(c.env.toolchains(), c.listed...), Environ: c.git.environment(c.env.Launcher.Config.Shell.Environ)}
	if slices.ContainsFunc(c.read.Commands, func(command engine.Command) bool {
		name, _ := command.Program()
		return name == "env" || name == "printenv" && len(command.Argv) == 1
	}) {
		look.Environ = shell.HarmlessVariables(look.Environ)
	}
	var repositories []string
	roots := c.env.Workspace.Roots()
	for _, dir := range c.git.dirs {
		tree, kept, _ := worktree.FindTree(dir)
		repositories = append(repositories, kept...)
		for _, path := range append(kept, tree) {
			if path != "" && !disk.InsideAny(roots, path) {
				look.Shown = append(look.Shown, path)
			}
		}
		if tree != "" && !disk.InsideAny(roots, tree) {
			roots = append(slices.Clone(roots), tree)
		}
	}
	hidden, shown, ok := c.known.concealing(roots, len(c.git.dirs) > 0)
	if !ok {
		return nil, "there are too many files here to find out which of them may hold secrets"
	}
	look.Hidden = hidden
	if !c.readOnly || !c.reads() {
		return look, ""
	}
	for _, dir := range append(repositories, shown...) {
		for _, file := range configurations(dir) {
			if why := configuration(file, true); why != "" {
				return nil, why
			}
		}
	}
	return look, ""
}

// toolchains returns what of the user's own directories programs need that are
// found by PATH, and how the user has set up git, if no password is in that.
func (env Tools) toolchains() (list []string) {
	home := env.variable("HOME")
	for _, dir := range env.path() {
		above := filepath.Dir(dir)
		if filepath.Base(dir) != "bin" || above == home || filepath.Base(above) == ".local" {
			continue
		}
		for _, beside := range []string{"lib", "pkg", "libexec"} {
			if info, err := os.Stat(filepath.Join(above, beside)); err == nil && info.IsDir() &&
				disk.Inside(home, above) {
				list = append(list, above)
				break
			}
		}
	}
	if home == "" {
		return list
	}
	for _, name := range []string{".gitconfig", ".config/git/config", ".config/git/ignore", ".gitignore_global"} {
		path := filepath.Join(home, name)
		if text, err := disk.Read(path, mostConfig); err == nil && !password().Match(text) {
			list = append(list, path)
		}
	}
	return append(list, cmp.Or(env.variable("GOMODCACHE"),
		filepath.Join(cmp.Or(env.variable("GOPATH"), filepath.Join(home, "go")), "pkg/mod")))
}

// variable returns what the environment of commands sets a variable to.
func (env Tools) variable(name string) string {
	value, _ := launch.Lookup(env.Launcher.Config.Shell.Environ, name)
	return value
}

// wanted returns which rights a read-only command lacked, whether it only tried to write, and in
// words its attempt. A command that succeeded lacks nothing, unless the user chose read-only
// for it: then a part of the line may have failed.
func (c shellCall) wanted(o shell.Outcome) (lacks engine.Rights, only bool, why string) {
	if o.OK() && !c.args.ReadOnly {
		return lacks, false, ""
	}
	lacks, wrote, read, tried := c.env.Launcher.Tried(c.plan(), o)
	read = slices.DeleteFunc(read, public)
	for i, path := range wrote {
		wrote[i] = text.Name(c.env.Workspace.Rel(path))
	}
	only = len(read) == 0 && lacks.Empty()
	switch {
	case len(wrote) > 0:
		return lacks, only, "it tried to write: " + strings.Join(wrote, ", ")
	case tried:
		return lacks, only, "it tried to write"
	case len(read) > 0:
		return lacks, false, "it tried to read: " + strings.Join(read, ", ")
	case !lacks.Empty():
		return lacks, false, "it probably needs " + lacks.String()
	}
	return lacks, false, ""
}
