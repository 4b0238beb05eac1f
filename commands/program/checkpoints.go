package program

import (
	"gemline/tools/checkpoint"
)

// newKeeper makes what keeps the states of files.
func (s *Session) newKeeper() *checkpoint.Keeper {
	cfg := checkpoint.Config{Dir: s.store.History(), Workspace: s.workspace, Ledger: s.ledger, Except: s.unkept(), Session: s.journal.ID,
		Hide: s.secrets.Text, Notify: s.notify}
	switch {
	case !s.settings.Checkpoints:
		cfg.Off = "general.checkpointing.enabled in the settings is false"
	case s.Trial, s.overlay != nil, s.flags.DryRun:
		cfg.Off = "nothing is changed by this run"
	}
	return checkpoint.New(cfg)
}

// unkept returns the directories in which gemline itself keeps what changes with every
// run, and the worktrees of others.
func (o *Options) unkept() []string {
	list := []string{o.paths.Workspace("worktrees")}
	if o.paths.Home != "" {
		list = append(list, o.paths.User("tmp"), o.paths.User("history"), o.paths.User("gemline"))
	}
	if dir := o.places().cache(); dir != "" {
		list = append(list, dir)
	}
	return list
}
