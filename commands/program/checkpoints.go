package program

import (
	"context"
	"fmt"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/settings/trust"
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

// keepInterrupted keeps what commands have done that were running when the session ended
// before its end, so that it can be taken back.
func (s *Session) keepInterrupted(ctx context.Context) {
	if !s.chat.continues() {
		return
	}
	said := journal.Turns(s.chat.past.History)
	for _, fc := range s.chat.past.Interrupted {
		if kind := engine.KindOf(s.tools.all, fc.Name); len(said) == 0 || kind.ReadOnly() || kind == engine.Edit {
			continue
		}
		last := said[len(said)-1]
		turn := checkpoint.Turn{Asked: text.OneLine(last.Question, 200),
			Print: checkpoint.Print(s.chat.past.History[last.From].Parts)}
		if err := s.keeper.Interrupted(ctx, turn, fc.Name, "interrupted: "+s.tools.title(ctx, fc)); err != nil {
			s.notices.notify(fmt.Sprintf("what the interrupted call has changed can't be taken back: %v", err))
		}
		return // what it was is one thing, whatever ran
	}
}

// Keeper implements [cli.Project].
func (s *inspection) Keeper(session string) (kept *cli.Kept, err error) {
	cfg := checkpoint.Config{Ledger: s.opts.Ledger, Except: project.Unkept(s.opts),
		Session: func() string { return session }, Hide: s.opts.Secrets.Text, Notify: s.run.notify}
	temp := ""
	if known, ok := s.opts.Paths.Registered(); ok {
		cfg.Dir, temp = known.History(), known.Temp
	}
	if s.opts.Trust.State < trust.Unneeded {
		s.opts.Settings.Confine()
	}
	if cfg.Workspace, err = project.NewWorkspace(s.opts, temp, nil, s.run.notify); err != nil {
		return nil, err
	}
	k := checkpoint.New(cfg)
	return &cli.Kept{Keeper: k, Session: session, Rel: cfg.Workspace.Rel, Done: k.Close}, nil
}

// Keeper implements [cli.Project].
func (h sessionProject) Keeper(session string) (*cli.Kept, error) {
	kept := &cli.Kept{Keeper: h.f.session.keeper, Session: session, Rel: h.f.session.project.workspace.Rel, Done: func() {}}
	if session == h.f.session.chat.file.ID() || session == "" {
		return kept, nil
	}
	kept.Keeper = h.f.session.keeper.For(session)
	kept.Done = kept.Keeper.Close
	return kept, nil
}
