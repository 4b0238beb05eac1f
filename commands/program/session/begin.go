package session

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
func Begin(ctx context.Context, p *project.Project, c Choice) (*Session, error) {
	if c.Policy == nil {
		c.Policy = p.Policy.As(c.Approver == nil)
	}
	s := &Session{Project: p, Choice: c, Notices: newNotices(p.Status, c.Notify)}
	var err error
	if s.Chat, err = openChat(p, c, s.Notices.Notify); err != nil {
		return nil, err
	}
	s.agents = newAgents(p, s.Chat)
	recorder := newRecorder(p, c, s.Chat.File.ID())
	s.newHooks(recorder)
	planned := func() bool { return s.Tools != nil && s.Tools.Families.Plans.Approved() != "" }
	s.Models = newModels(p, c, recorder, s.Hooks, s.ModelName, planned, s.Chat.ResumeCommand)
	var found engine.Tools // that a command has declared
	if s.Generator == nil {
		found, err = p.Options.DiscoveredTools(ctx, p.Launcher, p.Status.Notify)
	}
	s.newTools(found)
	if s.Generator == nil {
		err = cmp.Or(err, s.Rules.checkMode())
	}
	if err = cmp.Or(err, s.Models.structure(s.Schema)); err == nil {
		s.newEngine()
		err = cmp.Or(checkInstructions(p.Options, s.prompt), ctx.Err())
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
	recordEnd(s.Models.Recorder, s.Policy.Mode())
	s.agents.Close()
	s.Tools.Skills.Close()
	s.Keeper.Close()
	s.Chat.close()
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
	if !s.Chat.continues() {
		return
	}
	said := journal.Turns(s.Chat.Resumed.History)
	for _, fc := range s.Chat.Resumed.Interrupted {
		if kind := engine.KindOf(s.Tools.All, fc.Name); len(said) == 0 || kind.ReadOnly() || kind == engine.Edit {
			continue
		}
		last := said[len(said)-1]
		turn := checkpoint.Turn{Asked: text.OneLine(last.Question, 200),
			Print: checkpoint.Print(s.Chat.Resumed.History[last.From].Parts)}
		if err := s.Keeper.Interrupted(ctx, turn, fc.Name, "interrupted: "+s.Tools.Title(ctx, fc)); err != nil {
			s.Notices.Notify(fmt.Sprintf("what the interrupted call has changed can't be taken back: %v", err))
		}
		return // what it was is one thing, whatever ran
	}
}

// Info returns what records say of the conversation.
func (s *Session) Info() *project.SessionInfo {
	return &project.SessionInfo{ID: s.Chat.File.ID, Mode: func() string { return string(s.Policy.Mode()) }, ResumeCommand: s.Chat.ResumeCommand,
		Stored: s.Chat.File.Kept, Collected: s.Tools.collected}
}
