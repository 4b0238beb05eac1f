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

// watched is the time limit of a read-only command that never ends, such as tail -f.
const watched = 10 * time.Second

// passes reports whether a command in dir failed to read hidden files, as a recursive search
// does. That is no failure.
func passes(o shell.Outcome, dir string, hidden []string) bool {
	_, said := launch.ParseDenials(o.Output)
	return slices.ContainsFunc(said, func(r launch.Denial) bool {
		return slices.Contains(hidden, filepath.Clean(disk.Absolute(r.Path, dir, "")))
	})
}

// mostSeen and mostSecrets limit the files of a workspace, and those that may hold secrets,
// for commands confined to read-only.
const (
	mostSeen    = 400_000
	mostSecrets = 2000
)

// readOnlyView returns the read-only command's view of the files, or why it can't be
// confined to read-only. Files of the workspace that may hold secrets are hidden from it.
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

// toolchains returns the paths in the user's home that programs in PATH need, and the user's
// configuration of git, if it holds no password.
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

// variable returns the value of a variable in the environment of commands.
func (env Tools) variable(name string) string {
	value, _ := launch.Lookup(env.Launcher.Config.Shell.Environ, name)
	return value
}

// wanted returns the rights that a read-only command lacked, whether it only tried to write,
// and a description of its attempt. A command that succeeded lacks nothing, unless the user
// chose read-only for it: then a part of the line may have failed.
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
