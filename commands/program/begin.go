package program

import (
	"cmp"
	"context"
	"fmt"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/prompt"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/checkpoint"
)

// Begin returns a conversation that can be asked: a new or a resumed one.
func (p *Project) Begin(ctx context.Context, c Choice) (*Session, error) {
	if c.Policy == nil {
		c.Policy = p.policy.As(c.Approver == nil)
	}
	s := &Session{project: p, Choice: c, notices: newNotices(p.status, c.Notify)}
	var err error
	if s.chat, err = openChat(p, c, s.notices.notify); err != nil {
		return nil, err
	}
	s.agents = newAgents(p, s.chat)
	recorder := p.newRecorder(c, s.chat.file.ID())
	s.newHooks(recorder)
	planned := func() bool { return s.tools != nil && s.tools.families.Plans.Approved() != "" }
	s.models = newModels(p, c, recorder, s.hooks, s.modelName, planned, s.chat.resume)
	var found engine.Tools // that a command has declared
	if s.Generator == nil {
		found, err = p.opts.Discovered(ctx, p.launcher, p.status.notify)
	}
	s.newTools(found)
	if s.Generator == nil {
		err = cmp.Or(err, s.rules.checkMode())
	}
	if err = cmp.Or(err, s.models.structure(s.Schema)); err == nil {
		s.newEngine()
		err = cmp.Or(checkInstructions(p.opts, s.prompt), ctx.Err())
	}
	if err == nil {
		s.keepInterrupted(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the conversation, and leaves its file to others.
func (s *Session) Close() {
	recordEnd(s.models.recorder, s.Policy.Mode())
	s.agents.Close()
	s.tools.skills.Close()
	s.keeper.Close()
	s.chat.close()
}

// checkInstructions finds out whether the system instruction can be had: a file of the
// user's that can't be used is no accident.
func checkInstructions(o *project.Options, cfg func() prompt.Config) error {
	if o.Env.Getenv("GEMINI_SYSTEM_MD")+o.Env.Getenv("GEMINI_WRITE_SYSTEM_MD") == "" {
		return nil
	}
	if _, err := prompt.System(cfg()); err != nil {
		return &input.Error{Message: err.Error(), Err: err}
	}
	return nil
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

// held returns what records say of the conversation.
func (s *Session) held() *held {
	return &held{id: s.chat.file.ID, mode: func() string { return string(s.Policy.Mode()) }, resume: s.chat.resume,
		kept: s.chat.file.Kept, collected: s.tools.collected}
}
