package program

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/hook"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/loop"
	"gemline/engine/media"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/steer"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/tools/checkpoint"
)

// A Choice says which conversation begins.
type Choice struct {
	journal.Choice
	Directories []string             // that are worked in beside the project's
	Model       string               // "" is that of the settings
	Thinking    string               // likewise
	MaxTurns    int                  // 0 is that of the settings
	System      string               // the system instruction, if not our own
	Generator   engine.Generator     // answers in place of the model, without tools
	Trial       bool                 // nothing is recorded
	Scratch     string               // a directory for what a trial has to keep of files, "" if it changes none
	Limits      *limit.Config        // of this conversation alone, nil if there are none
	Policy      *policy.Policy       // nil is the project's
	Schema      *report.OutputSchema // nil if any answer will do
	Tally       *tally.Tally
	Notify      func(string) // nil is the project's
	Approver    engine.Approver
}

// A Session is one conversation in a Project: what is said and recorded, what was
// granted and what it may spend.
type Session struct {
	project *Project
	Choice
	notices    *notices
	chat       *chat
	agents     *agents
	hooks      *hook.Hooks // nil if there are none
	models     *models
	memory     *memory.Memory
	keeper     *checkpoint.Keeper // of the states of files
	rules      *rules
	tools      *toolbox
	engine     *engine.Engine
	compressor *compress.Compressor
	guard      *loop.Guard // against loops, nil if nobody looks for them
	hints      steer.Hints // the user's, not sent to the model yet
}

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

// Run says parts to the model, within what may be spent. It is an [engine.Run].
func (s *Session) Run(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return s.promptRun()(ctx, parts...)
}

// promptRun returns the Run of one prompt. What is said by it again is about the same prompt:
// the same model answers, and what repeats itself is counted on. Hooks and checks stand
// around that, and say things again themselves: what a hook keeps back, no model reads.
func (s *Session) promptRun() engine.Run {
	run := s.hints.Run(s.engine, s.notices.withNotices(s.chat.file.Begun(media.Keep(s.engine.Run, s.engine.History, s.chat.outputs)), s.note))
	if !s.project.opts.Settings.SkipNextSpeaker {
		run = loop.Continue(run, s.models.asker, s.engine.History)
	}
	run = s.checked().Wrap(s.hooks.Run(s.models.router.Run(s.engine, s.guard.Run(run))))
	run = s.keeper.Run(s.models.watch(s.models.recorder.Run(limit.Turns(run, turns(s.project.opts, s.Choice)))))
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			s.project.mcp.await(ctx, s.project.status.tell)
			s.tools.tellSkills(s.notices.notify)
			defer s.rules.skillPolicy.Store(nil)
			s.withContextReload(journal.Synced(s.chat.saver.Run(run), s.chat.sync))(ctx, parts...)(yield)
		}
	}
}

// note takes note of an event: where conversations with agents are, and that a summary
// stands for the answers with which context files came. These come with the next call there
// once more.
func (s *Session) note(ev engine.Event) {
	if n, _ := ev.(engine.Notice); summed(n) {
		s.memory.Reload()
	}
	if err := s.agents.recordPlaces(ev); err != nil {
		s.project.status.turn.add(engine.Notice{Text: "a resumed session will begin anew with agents on other servers: " + err.Error()})
	}
}

// withContextReload returns a run that reads the context files again at its end, if run has made
// a context file, as /init does. Where no prompt follows, it does not.
func (s *Session) withContextReload(run engine.Run) engine.Run {
	if !s.project.opts.User.AnswersQuestions() {
		return run
	}
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			made, left := "", false
			for ev, err := range run(ctx, parts...) {
				if f, ok := ev.(engine.Finished); ok {
					made = cmp.Or(newContext(f.Result.Changes, s.project.workspace.Roots(), s.memory.Names()), made)
				}
				if left = !yield(ev, err); left {
					break
				}
			}
			if made == "" {
				return
			}
			s.memory.Reload()
			if s.engine.Reopen(ctx); !left {
				yield(engine.Notice{Text: "the next request has " + made + " as a context file", Info: true}, nil)
			}
		}
	}
}

// newContext returns the name of a context file that was made in one of roots, "" if none
// was.
func newContext(changes []engine.Change, roots, names []string) string {
	for _, c := range changes {
		dir, name := filepath.Split(c.Path)
		if c.Made && slices.Contains(roots, filepath.Clean(dir)) && slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// turns returns how many requests a prompt may take where nobody watches it and nothing
// else is said; 0 is no limit.
func turns(o *project.Options, c Choice) int {
	const most = 200
	if o.User.HasUser() || c.MaxTurns != 0 || o.Flags.MaxTurns != 0 || o.Settings.IsSet("model.maxSessionTurns") {
		return 0
	}
	return most
}
