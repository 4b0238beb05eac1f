package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell/program"
)

// keeps has commands that run unasked, since what they change can be brought back, kept
// from what may hold secrets and from writing to what is guarded.
func (env Env) keeps(k *known) {
	if env.Undoable == nil || env.Launcher == nil {
		return
	}
	k.guards = env.Guards
	env.Launcher.Keeps = func() (hidden, readOnly []string) {
		far, _ := env.kept(k)
		readOnly = slices.DeleteFunc(slices.Concat(far.guarded, far.git, far.uncovered),
			func(path string) bool { return slices.Contains(far.hidden, path) })
		return far.hidden, readOnly
	}
}

// A keeping is what commands are kept from that run unasked.
type keeping struct {
	hidden  []string // they can't read
	guarded []string // nor write to: what other programs go by,
	git     []string // and repositories, of which no checkpoint is made,

	uncovered []string // and what undo does not bring back
}

// mostUncovered is how many files and directories are held, at most, that undo does not
// bring back: each is a mount of every command.
const mostUncovered = 500

// kept returns what commands are kept from that run unasked. It reports false if they
// are not, or if that would be too much.
func (env Env) kept(k *known) (far keeping, ok bool) {
	if env.Undoable == nil || env.Workspace == nil || !env.Undoable() {
		return far, false
	}
	roots := env.Workspace.Roots()
	ok = k.walk(roots, func(at string, f folder) {
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
		return keeping{}, false
	}
	if env.Uncovered != nil {
		if far.uncovered, ok = env.Uncovered(mostUncovered); !ok {
			return keeping{}, false
		}
	}
	return far, true
}

// opened returns rights with that to write to repositories, which commands are kept
// from that run unasked.
func (c shellCall) opened(r engine.Rights) engine.Rights {
	if far, ok := c.env.kept(c.known); ok {
		r.Write = append(slices.Clone(r.Write), far.git...)
	}
	return r
}

// agreed returns rights with all that to write to which commands are kept from that run
// unasked: the user has agreed to this one.
func (c shellCall) agreed(r engine.Rights) engine.Rights {
	r = c.opened(r)
	if far, ok := c.env.kept(c.known); ok {
		r.Write = append(slices.Clip(r.Write), far.uncovered...)
	}
	return r
}

// records reports whether all that the line may do to a repository is adding to it, so
// that nothing in it is lost.
func (c shellCall) records() bool {
	return c.read.Class == engine.Plain && !slices.ContainsFunc(c.read.Commands, func(cmd engine.Command) bool {
		words := cmd.Words()
		if name, known := cmd.Program(); cmd.Safe || !known || name != "git" || len(cmd.Env) > 0 || len(words) < 2 {
			return !cmd.Safe
		}
		p, _ := program.Find("git").Command(words[1])
		return !p.RecordsAt(words[2:])
	})
}

// undoable reports whether what the command changes can be brought back, and all else is
// kept from it.
func (c shellCall) undoable() bool {
	if c.env.Undoable == nil || c.Background || !c.rights.None() || !c.env.State().Confined() {
		return false
	}
	_, ok := c.env.kept(c.known)
	return ok
}

// guarded returns what is guarded in the workspace and what other programs go by. It
// reports false if nothing confines commands, or there is too much to look at.
func (env Env) guarded(k *known) (paths []string, ok bool) {
	if env.Guards == nil || env.Launcher == nil || env.Workspace == nil || !env.State().Files {
		return nil, false
	}
	ok = k.walk(env.Workspace.Roots(), func(at string, f folder) {
		for _, name := range f.guarded {
			paths = append(paths, filepath.Join(at, name))
		}
	})
	return paths, ok
}

// checked runs a command. What is guarded and was not there before is asked about, and gets
// another name if it is not to be, unless the command line names it: then it was judged.
func (c shellCall) checked(ctx context.Context, tool engine.Tool, host engine.Host,
	run func() (engine.Result, error)) (engine.Result, error) {
	before, ok := c.env.guarded(c.known)
	r, err := run()
	after, still := c.env.guarded(c.known)
	made := slices.DeleteFunc(after, func(path string) bool {
		return slices.Contains(before, path) || slices.ContainsFunc(c.read.Writes, func(name string) bool {
			if !filepath.IsAbs(name) {
				name = filepath.Join(c.dir, name)
			}
			return filepath.Clean(name) == path
		})
	})
	if !ok || !still || len(made) == 0 {
		return r, err
	}
	var names []string
	for _, path := range made {
		names = append(names, text.Name(c.env.Workspace.Rel(path)))
	}
	what := "it made what other programs go by: " + strings.Join(names[:min(5, len(names))], ", ")
	if n := len(names) - 5; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	in := c.intent()
	in.Plan.Writes = append(slices.Clip(in.Plan.Writes), made...)
	in.Plan.Failed, in.Plan.Undoable, in.Grants, in.Draft, in.Plan.Online, in.Plan.ReadOnly = what, false, nil, nil, nil, nil
	answer, aerr := host.Approve(ctx, engine.Proposal{Tool: tool, Args: c.args(), Intent: in})
	if _, yes := answer.(engine.Allowed); yes && aerr == nil {
		return r, err
	}
	for _, path := range made {
		aerr = errors.Join(aerr, os.Rename(path, aside(path)))
	}
	if aerr != nil {
		return r, errors.Join(err, aerr)
	}
	if err == nil {
		err = &engine.CallError{Type: shellError, Display: "failed", Message: r.Text}
	}
	return denied(r, err, answer, "The command was done, but "+what+". That got other names, which end in .put-aside and a number, since it was not allowed.", what)
}

// aside returns a name beside path that nothing has.
func aside(path string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.put-aside-%d", strings.TrimPrefix(filepath.Base(path), "."), n)
		if to := filepath.Join(filepath.Dir(path), name); !exists(to) {
			return to
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
