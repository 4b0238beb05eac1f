package session

import (
	"cmp"
	"context"
	"fmt"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/model/catalog"
	"gemline/engine/prompt"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/tools/checkpoint"
)

// Begin returns a new or a resumed conversation, ready for prompts.
func Begin(ctx context.Context, p *project.Project, c Config) (*Session, error) {
	if c.policy == nil {
		c.policy = p.Policy.WithUnattended(c.Approver == nil)
	}
	s := &Session{Project: p, Config: c, Notices: &Notices{status: p.Status, warn: c.Notify}}
	var err error
	if s.Journal, err = openJournal(p, c, s.Notices.Notify); err != nil {
		return nil, err
	}
	s.Config.Model = keptModel(p, c, s.Journal.Resumed, s.Notices.Notify)
	s.agents = newAgents(p, s.Journal)
	recorder := newRecorder(p, c, s.Journal.File.ID())
	s.newHooks(recorder)
	planned := func() bool { return s.Tools != nil && s.Tools.Families.Plans.Approved() != "" }
	s.Models = newModels(p, s.Config, recorder, s.Hooks, s.ModelName, planned, s.Journal.ResumeCommand)
	var found engine.Tools // tools that a command has declared
	if s.Config.Generator == nil {
		found, err = p.Options.DiscoveredTools(ctx, p.Launcher, p.Status.Notify)
	}
	s.newTools(found)
	if s.Config.Generator == nil {
		err = cmp.Or(err, s.Rules.checkFirstMode())
	}
	if err = cmp.Or(err, s.Models.requireSchema(s.Config.Schema)); err == nil {
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

// keptModel returns the model of a conversation. A resumed conversation keeps its model if the
// configured model belongs to another vendor: nobody has agreed that the other vendor reads the
// conversation. An imported session file chooses no vendor.
func keptModel(p *project.Project, c Config, resumed *journal.LoadedSession, notify func(string)) string {
	if resumed == nil || resumed.Model == "" || c.Open.Import != "" || p.Options.Flags.Model != "" {
		return c.Model
	}
	was, _ := catalog.Provider(resumed.Model)
	if is, _ := catalog.Provider(p.Model.Presets.Chat(cmp.Or(c.Model, p.Options.Settings.Model), false).Model); is == was {
		return c.Model
	}
	notify(fmt.Sprintf("this conversation was with %s, and no other vendor gets it unless -m or /model says so", text.PrintableLine(resumed.Model)))
	return resumed.Model
}

// BeginNext begins or resumes another conversation with the model, the approval mode and the
// directories of s. The user's grants are forgotten.
func BeginNext(ctx context.Context, s *Session, open journal.OpenOptions, count *tally.Tally) (*Session, error) {
	next := s.Config
	next.Open, next.Tally, next.directories = open, count, s.Project.Workspace.Roots()[1:]
	next.Model, next.thinking = s.Models.Router.Wanted(), s.Models.thinking
	next.policy = s.Config.policy.WithUnattended(s.Config.policy.Unattended)
	next.policy.ForgetGrants()
	return Begin(ctx, s.Project, next)
}

// Close ends the conversation, and releases its file.
func (s *Session) Close() {
	recordEnd(s.Models.recorder, s.Config.policy.Mode())
	s.agents.Close()
	s.Tools.Skills.Close()
	s.Keeper.Close()
	s.Journal.close()
}

// checkInstructions returns the error of a system instruction that can't be read: the user has
// asked for the file, so gemline does not fall back to its own.
func checkInstructions(o *project.Options, cfg func() prompt.Config) error {
	if o.Env.Getenv("GEMINI_SYSTEM_MD")+o.Env.Getenv("GEMINI_WRITE_SYSTEM_MD") == "" {
		return nil
	}
	if _, err := prompt.System(cfg()); err != nil {
		return &input.Error{Message: err.Error(), Err: err}
	}
	return nil
}

// keepInterrupted stores the changes of commands that an abrupt end of the session interrupted, so
// that the changes can be undone.
func (s *Session) keepInterrupted(ctx context.Context) {
	if !s.Journal.continues() {
		return
	}
	said := journal.Turns(s.Journal.Resumed.History)
	for _, fc := range s.Journal.Resumed.Interrupted {
		if kind := engine.KindOf(s.Tools.Toolset, fc.Name); len(said) == 0 || kind.ReadOnly() || kind == engine.Edit {
			continue
		}
		last := said[len(said)-1]
		turn := checkpoint.Turn{Asked: text.OneLine(last.Question, 200),
			Print: checkpoint.Fingerprint(s.Journal.Resumed.History[last.From].Parts)}
		if err := s.Keeper.Interrupted(ctx, turn, fc.Name, "interrupted: "+s.Tools.Title(ctx, fc)); err != nil {
			s.Notices.Notify(fmt.Sprintf("changes of the interrupted call can't be taken back: %v", err))
		}
		return // one state holds the changes of all interrupted calls
	}
}

// Info returns the facts about the conversation for the records.
func (s *Session) Info() *project.SessionInfo {
	return &project.SessionInfo{ID: s.Journal.File.ID, Mode: func() string { return string(s.Config.policy.Mode()) }, ResumeCommand: s.Journal.ResumeCommand,
		Stored: s.Journal.File.Stored, Collected: s.Tools.collected}
}
