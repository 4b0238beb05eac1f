package command

import (
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/shell/program"
	"gemline/tools/shell/script"
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
	if far, ok := env.protected(k); ok {
		r.Write = append(slices.Clip(r.Write), far.uncovered...)
	}
	return r
}

// records reports whether a line only adds to repositories, so that no data in them is lost.
func records(read script.Script) bool {
	return read.Class == engine.Plain && !slices.ContainsFunc(read.Commands, func(cmd engine.Command) bool {
		words := cmd.Words()
		if name, known := cmd.Program(); cmd.Safe || !known || name != "git" || len(cmd.Env) > 0 || len(words) < 2 {
			return !cmd.Safe
		}
		p, _ := program.Find("git").Command(words[1])
		return !p.RecordsAt(words[2:])
	})
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
