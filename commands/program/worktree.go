package program

import (
	"context"
	"errors"
	"fmt"

	"gemline/settings/flags"
	"gemline/settings/trust"
	"gemline/tools/worktree"
)

// checkOut makes the worktree that the command line wants, and goes there. It comes
// after the user was asked whether the folder is trusted, and before anything of it is
// used but its settings.
func (r *run) checkOut(ctx context.Context) error {
	if !r.opts.flags.Worktree.Set || r.opts.tree != "" {
		return nil
	}
	name := r.opts.flags.Worktree.Value
	switch err := worktree.CheckName(name); {
	case name != "" && err != nil:
		return &flags.UsageError{Message: "--worktree: " + err.Error() + "; a prompt stands behind -p"}
	case r.opts.trust.State < trust.Unneeded:
		return &worktree.Error{Message: "this folder is not trusted, so no worktree is made of it",
			Advice: "gemline trust add trusts it"}
	case !r.opts.settings.Worktrees:
		return &flags.UsageError{Message: "--worktree: experimental.worktrees in the settings is not on; gemline config set experimental.worktrees true switches it on"}
	}
	l, err := newLauncher(r.opts)
	if err != nil {
		return err
	}
	defer l.Close()
	repository, err := worktree.Open(r.opts.paths.Cwd, l)
	if err != nil {
		return err
	}
	t, err := repository.Add(ctx, name)
	if err != nil {
		return err
	}
	if err := r.opts.move(t.Path); err != nil {
		return errors.Join(err, repository.Remove(ctx, t, false))
	}
	r.opts.tree = t.Name
	r.status.tell(fmt.Sprintf("this is the new worktree %s, on the branch %s: %s", t.Name, t.Branch, t.Path))
	r.store, err = r.opts.paths.Register(ctx)
	if err != nil {
		r.notify(err.Error())
	}
	return nil
}

// tellTree says what becomes of the worktree that the run has made.
func (r *run) tellTree(tell func(string)) {
	if r.opts.tree == "" {
		return
	}
	if s := r.status.session.Load(); s != nil && !r.opts.interactive && s.goOn() != "" {
		tell("go on with " + s.goOn())
	}
	tell("the worktree stays; gemline worktree remove " + r.opts.tree + " removes it")
}

// enter asks about a folder that nobody has decided about, before anything of
// it is used.
func (r *run) enter(ctx context.Context, user consenter) error {
	if err := r.opts.askTrust(ctx, user, r.notify); err != nil {
		return err
	}
	if err := r.checkOut(ctx); err != nil {
		return err
	}
	if r.opts.tree != "" {
		if err := r.opts.askTrust(ctx, user, r.notify); err != nil {
			return err
		}
	}
	if r.opts.trust.State == trust.Unknown {
		return nil
	}
	return r.opts.agree(ctx, user, r.notify)
}
