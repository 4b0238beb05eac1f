package command

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
	"gemline/tools/worktree"
)

// protect hides files that may hold secrets from commands that run unasked, and makes guarded
// files read-only for them. Such commands run unasked since their changes can be reverted.
func (env Tools) protect(k *known) {
	k.guards = env.Guards
	if env.Revertible == nil || env.Launcher == nil {
		return
	}
	env.Launcher.ProtectedPaths = func() (hidden, readOnly []string) {
		far, _ := env.protected(k)
		readOnly = slices.DeleteFunc(slices.Concat(far.guarded, far.git, far.uncovered),
			func(path string) bool { return slices.Contains(far.hidden, path) })
		return far.hidden, readOnly
	}
}

// protectedPaths are the paths that commands without approval can't read, or can't write to.
type protectedPaths struct {
	hidden  []string // not readable
	guarded []string // not writable: files that other programs obey,
	git     []string // repositories, which checkpoints do not cover,

	uncovered []string // and files that undo does not bring back
}

// mostUncovered limits the protected files and directories that undo does not bring back:
// each is a mount for every command.
const mostUncovered = 500

// protected returns the paths that are protected from commands that run unasked. It reports
// false if no command runs unasked, or if there are too many paths.
func (env Tools) protected(k *known) (far protectedPaths, ok bool) {
	if env.Revertible == nil || env.Workspace == nil || !env.Revertible() {
		return far, false
	}
	roots := env.Workspace.Roots()
	ok = k.walk(roots, mostSeen, func(at string, f folder) {
		far.hidden = append(far.hidden, k.concealed(f, at, roots)...)
		for _, name := range f.guarded {
			far.guarded = append(far.guarded, filepath.Join(at, name))
		}
		for _, name := range f.own {
			if strings.EqualFold(name, ".git") {
				far.git = append(far.git, filepath.Join(at, name))
			}
		}
	})
	far.git = append(far.git, env.outerRepositories()...)
	far.hidden = k.lasting(far.hidden)
	if !ok || len(far.hidden)+len(far.guarded)+len(far.git) > mostSecrets {
		return protectedPaths{}, false
	}
	if env.Uncovered != nil {
		if far.uncovered, ok = env.Uncovered(mostUncovered); !ok {
			return protectedPaths{}, false
		}
	}
	return far, true
}

// opened adds to r the right to write to repositories, which commands without approval do
// not have.
func (env Tools) opened(k *known, r engine.Rights) engine.Rights {
	if far, ok := env.protected(k); ok {
		r.Write = append(slices.Clone(r.Write), far.git...)
	}
	return r
}

// agreed adds to r the rights to write to repositories and to files that undo does not bring
// back, as the user has approved this command.
func (env Tools) agreed(k *known, r engine.Rights) engine.Rights {
	r = env.opened(k, r)
	r.Write = append(slices.Clip(r.Write), env.outerRepositories()...)
	if far, ok := env.protected(k); ok {
		r.Write = append(slices.Clip(r.Write), far.uncovered...)
	}
	return r
}

// outerRepositories returns the git directories outside of the workspace that its directories
// belong to, but for repositories of directories with more in them, such as the home directory.
func (env Tools) outerRepositories() (dirs []string) {
	roots := env.Workspace.Roots()
	for _, root := range roots {
		dir := worktree.Outside(root)
		home := disk.ResolveLinks(env.variable("HOME"))
		if dir != "" && !disk.InsideAny(append(dirs, roots...), dir) && filepath.Dir(dir) != "/" && !disk.Inside(filepath.Dir(dir), home) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// records reports whether a line only adds to repositories, and reads, so that no data in
// them is lost.
func records(read script.Script) bool {
	return (read.Class == engine.Plain || read.Loose) && !slices.ContainsFunc(read.Commands, func(cmd engine.Command) bool {
		unknown := func(w engine.Word) bool { return !w.Known }
		if name, _ := cmd.Program(); cmd.Safe || name != "git" || cmd.Wrapper != "" || len(cmd.Env) > 0 || slices.ContainsFunc(cmd.Argv, unknown) {
			return !cmd.Safe
		}
		sub, p, words := subcommand(cmd)
		return sub == "" || !p.RecordsAt(words) && !p.ReadsAt(words)
	})
}

// subcommand returns git's sub-command in a command of git, its entry in the book, and the words
// behind it. Only options for the directory and against a pager may precede it.
func subcommand(cmd engine.Command) (sub string, p *program.Program, words []string) {
	for words = cmd.Words()[1:]; len(words) > 0; words = words[1:] {
		switch words[0] {
		case "-C":
			words = words[min(1, len(words)-1):]
		case "-P", "--no-pager":
		default:
			p, _ = program.Find("git").Command(words[0])
			return words[0], p, words[1:]
		}
	}
	return "", &program.Program{}, nil
}

// revertible reports whether the command's changes can be reverted, and all other files are
// protected from it.
func (c shellCall) revertible() bool {
	if c.env.Revertible == nil || c.args.Background || !c.rights.Empty() || !c.env.Launcher.State().Confined() {
		return false
	}
	_, ok := c.env.protected(c.known)
	return ok
}
