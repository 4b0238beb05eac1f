package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gemline/commands/program/project"
	"gemline/settings/flags"
	"gemline/settings/trust"
	"gemline/tools/worktree"
)

// checkOutWorktree makes the worktree that the command line names, and changes to it. It comes
// after the question whether the folder is trusted, and before anything of the folder but its
// settings is used.
func (r *Run) checkOutWorktree(ctx context.Context) error {
	if !r.Options.Flags.Worktree.Set || r.Options.Worktree != "" {
		return nil
	}
	name := r.Options.Flags.Worktree.Value
	switch err := worktree.CheckName(name); {
	case name != "" && err != nil:
		return &flags.UsageError{Message: "--worktree: " + err.Error() + "; a prompt stands behind -p"}
	case r.Options.Trust.State < trust.Unneeded:
		return &worktree.Error{Message: "this folder is not trusted, so no worktree is made of it",
			Advice: "gemline trust add trusts it"}
	case !r.Options.Settings.Worktrees:
		return &flags.UsageError{Message: "--worktree: experimental.worktrees in the settings is not on; gemline config set experimental.worktrees true switches it on"}
	}
	l, err := project.NewLauncher(r.Options)
	if err != nil {
		return err
	}
	defer l.Close()
	repository, err := worktree.Open(r.Options.Paths.Cwd, l)
	if err != nil {
		return err
	}
	t, err := repository.Add(ctx, name)
	if err != nil {
		return err
	}
	if err := r.Options.Move(t.Path); err != nil {
		return errors.Join(err, repository.Remove(ctx, t, false))
	}
	r.Options.Worktree = t.Name
	r.Status.PrintInfo(fmt.Sprintf("this is the new worktree %s, on the branch %s: %s", t.Name, t.Branch, t.Path))
	r.store, err = r.Options.Paths.Register(ctx)
	if err != nil {
		r.notify(err.Error())
	}
	return nil
}

// printWorktree prints how to continue in the run's worktree, and how to remove it.
func printWorktree(o *project.Options, st *project.Status, tell func(string)) {
	if o.Worktree == "" {
		return
	}
	if !o.User.Interactive {
		tell("go on with " + cmp.Or(st.StoredResumeCommand(), o.WorktreePrefix()+"gemline"))
	}
	tell("the worktree stays; gemline worktree remove " + o.Worktree + " removes it")
}

// enterFolder asks about a folder without a decision, before anything of it is used.
func (r *Run) enterFolder(ctx context.Context, user project.Consenter) error {
	if err := r.Options.AskTrust(ctx, user, r.notify); err != nil {
		return err
	}
	if err := r.checkOutWorktree(ctx); err != nil {
		return err
	}
	if r.Options.Worktree != "" {
		if err := r.Options.AskTrust(ctx, user, r.notify); err != nil {
			return err
		}
	}
	if r.Options.Trust.State == trust.Unknown {
		return nil
	}
	return r.Options.Agree(ctx, user, r.notify)
}
