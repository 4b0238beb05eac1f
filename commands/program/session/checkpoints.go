package session

import (
	"fmt"

	"gemline/commands/program/project"
	"gemline/engine/policy"
	"gemline/tools/checkpoint"
)

// newKeeper returns what keeps the states of files for a conversation.
func newKeeper(p *project.Project, c Choice, at *Chat, notify func(string)) *checkpoint.Keeper {
	cfg := checkpoint.Config{Dir: p.Store.History(), Workspace: p.Workspace, Ledger: p.Options.Ledger,
		Except: project.UntrackedDirs(p.Options), Session: at.File.ID,
		Hide: p.Options.Secrets.Text, Notify: notify, Strict: func() bool { return c.Policy.Mode() == policy.Auto }}
	switch {
	case !p.Options.Settings.Checkpoints:
		cfg.Off = "general.checkpointing.enabled in the settings is false"
	case c.Scratch != "":
		cfg.Dir = c.Scratch
	case c.Trial, p.Workspace.Overlay != nil, p.Options.Flags.DryRun:
		cfg.Off = "nothing is changed by this run"
	}
	k := checkpoint.New(cfg)
	if err := k.Copy(at.copyOf); err != nil {
		notify(fmt.Sprintf("what the session has changed that this is a copy of can't be taken back here: %v", err))
	}
	return k
}
