package program

import (
	"fmt"

	"gemline/commands/program/project"
	"gemline/engine/policy"
	"gemline/tools/checkpoint"
)

// newKeeper returns what keeps the states of files for a conversation.
func newKeeper(p *Project, c Choice, at *chat, notify func(string)) *checkpoint.Keeper {
	cfg := checkpoint.Config{Dir: p.store.History(), Workspace: p.workspace, Ledger: p.opts.Ledger,
		Except: project.Unkept(p.opts), Session: at.file.ID,
		Hide: p.opts.Secrets.Text, Notify: notify, Strict: func() bool { return c.Policy.Mode() == policy.Auto }}
	switch {
	case !p.opts.Settings.Checkpoints:
		cfg.Off = "general.checkpointing.enabled in the settings is false"
	case c.Scratch != "":
		cfg.Dir = c.Scratch
	case c.Trial, p.overlay != nil, p.opts.Flags.DryRun:
		cfg.Off = "nothing is changed by this run"
	}
	k := checkpoint.New(cfg)
	if err := k.Copy(at.copyOf); err != nil {
		notify(fmt.Sprintf("what the session has changed that this is a copy of can't be taken back here: %v", err))
	}
	return k
}
