package program

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"sync"

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
	"gemline/engine/telemetry"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/skill"
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
	opts    *project.Options
	project *Project
	Choice
	chat       *chat
	memory     *memory.Memory
	families   tools.Families
	skills     *skill.Active    // nil if there are to be none
	rehearsal  *tools.Rehearsal // of a run that changes nothing, else nil
	keeper     *checkpoint.Keeper
	found      engine.Tools // that a command has declared
	tools      engine.Toolset
	rules      *rules
	hooks      *hook.Hooks // nil if there are none
	engine     *engine.Engine
	compressor *compress.Compressor
	models     *models
	guard      *loop.Guard         // against loops, nil if nobody looks for them
	recorder   *telemetry.Recorder // nil if nothing is recorded
	hints      steer.Hints         // the user's, not sent to the model yet
	agents     *agents
	beside     backlog // of requests while a call was prepared
}

// Begin returns a conversation that can be asked: a new or a resumed one.
func (p *Project) Begin(ctx context.Context, c Choice) (*Session, error) {
	if c.Policy == nil {
		c.Policy = p.policy.As(c.Approver == nil)
	}
	s := &Session{opts: p.opts, project: p, Choice: c}
	var err error
	if s.chat, err = openChat(p, c, s.notify); err != nil {
		return nil, err
	}
	s.newAgents()
	s.recorder = s.newRecorder()
	s.newHooks()
	s.newModels()
	if s.Generator == nil {
		s.found, err = p.opts.Discovered(ctx, p.launcher, p.status.notify)
	}
	s.newTools()
	if s.Generator == nil {
		err = cmp.Or(err, s.rules.checkMode())
	}
	if err = cmp.Or(err, s.models.structure(s.Schema)); err == nil {
		s.newEngine()
		err = cmp.Or(s.checkInstructions(), ctx.Err())
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
	recordEnd(s.recorder, s.Policy.Mode())
	s.agents.Close()
	s.skills.Close()
	s.keeper.Close()
	s.chat.close()
}

// notify tells what is odd but no error.
func (s *Session) notify(text string) {
	switch {
	case s.Notify == nil:
		s.project.status.notify(text)
	case !s.beside.offer(engine.Notice{Text: text}):
		s.Notify(text)
	}
}

// newAgents makes who is called by the conversation's model.
func (s *Session) newAgents() {
	var places map[string]journal.Place
	if s.chat.continues() {
		places = s.chat.past.Elsewhere
	}
	record := s.chat.file.SetElsewhere
	if !s.chat.recorded() {
		record = nil
	}
	s.agents = newAgents(s.project, places, record)
}

// newModels makes what answers.
func (s *Session) newModels() {
	planned := func() bool { return s.families.Plans.Approved() != "" }
	s.models = newModels(s.project, s.Choice, s.recorder, s.hooks, s.modelName, planned, s.chat.resume)
}

// checkInstructions finds out whether the system instruction can be had: a file of the
// user's that can't be used is no accident.
func (s *Session) checkInstructions() error {
	if s.opts.Env.Getenv("GEMINI_SYSTEM_MD")+s.opts.Env.Getenv("GEMINI_WRITE_SYSTEM_MD") == "" {
		return nil
	}
	if _, err := prompt.System(s.prompt()); err != nil {
		return &input.Error{Message: err.Error(), Err: err}
	}
	return nil
}

// collected returns what a run would have done that changes nothing.
func (s *Session) collected() report.Collected {
	c := report.Collected{Patch: s.rehearsal.Patch()}
	if !s.opts.Flags.DryRun {
		return c
	}
	c.Planned = []report.Planned{}
	for _, step := range s.rehearsal.Steps() {
		c.Planned = append(c.Planned, report.Planned(step))
	}
	return c
}

// Run says parts to the model, within what may be spent. It is an [engine.Run].
func (s *Session) Run(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return s.prompted()(ctx, parts...)
}

// prompted returns the Run of one prompt. What is said by it again is about the same prompt:
// the same model answers, and what repeats itself is counted on. Hooks and checks stand
// around that, and say things again themselves: what a hook keeps back, no model reads.
func (s *Session) prompted() engine.Run {
	run := s.hints.Run(s.engine, s.telling(s.chat.file.Begun(media.Keep(s.engine.Run, s.engine.History, s.chat.outputs))))
	if !s.opts.Settings.SkipNextSpeaker {
		run = loop.Continue(run, s.models.asker, s.engine.History)
	}
	run = s.checked().Wrap(s.hooks.Run(s.models.router.Run(s.engine, s.guard.Run(run))))
	run = s.keeper.Run(s.models.watch(s.recorder.Run(limit.Turns(run, s.turns()))))
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			s.project.mcp.await(ctx, s.project.status.tell)
			s.tellSkills()
			defer s.rules.narrowed.Store(nil)
			s.rereading(journal.Synced(s.chat.saver.Run(run), s.chat.sync))(ctx, parts...)(yield)
		}
	}
}

// telling returns a run that also tells what was asked of a model while a call was
// prepared, and what is told of servers and agents, as soon as it yields the next event that
// is no piece of an answer. A summary is taken note of.
func (s *Session) telling(run engine.Run) engine.Run {
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			told := func() bool {
				for _, next := range append(s.beside.take(), s.project.status.turn.take()...) {
					if !yield(next, nil) {
						return false
					}
				}
				return true
			}
			failed := false
			defer s.beside.open()()
			defer s.project.status.turn.open()()
			for ev, err := range run(ctx, parts...) {
				s.noteSummary(ev)
				if err := s.agents.recordPlaces(ev); err != nil {
					s.project.status.turn.add(engine.Notice{Text: "a resumed session will begin anew with agents on other servers: " + err.Error()})
				}
				failed = err != nil
				if !answering(ev) && !told() || !yield(ev, err) {
					return
				}
			}
			if !failed {
				told()
			}
		}
	}
}

// answering reports whether ev is a piece of an answer, which nothing may interrupt.
func answering(ev engine.Event) bool {
	switch ev.(type) {
	case engine.Text, engine.Thought:
		return true
	}
	return false
}

// rereading returns a run after which the context files are read again, if one was made by
// it where they are looked for, as /init has it. Where no prompt follows, they are not.
func (s *Session) rereading(run engine.Run) engine.Run {
	if !s.opts.User.Answered() {
		return run
	}
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			made, left := "", false
			for ev, err := range run(ctx, parts...) {
				if f, ok := ev.(engine.Finished); ok {
					made = cmp.Or(s.newContext(f.Result.Changes), made)
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

// newContext returns the name of a context file that was made in a directory that is worked
// in, "" if none was.
func (s *Session) newContext(changes []engine.Change) string {
	for _, c := range changes {
		dir, name := filepath.Split(c.Path)
		if c.Made && slices.Contains(s.project.workspace.Roots(), filepath.Clean(dir)) &&
			slices.Contains(s.memory.Names(), name) {
			return name
		}
	}
	return ""
}

// A backlog is events that are not told yet. It is safe for concurrent use: tools run side by
// side, and only the run that yields events may write to the terminal meanwhile.
type backlog struct {
	mu     sync.Mutex
	events []engine.Event
	turns  int // that run, and tell what is added
}

// open lets offer add events until the function that it returns is called.
func (b *backlog) open() (end func()) {
	count := func(n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turns += n
	}
	count(1)
	return func() { count(-1) }
}

// offer adds an event if a turn runs, which will tell it.
func (b *backlog) offer(ev engine.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turns == 0 {
		return false
	}
	b.events = append(b.events, ev)
	return true
}

func (b *backlog) add(ev engine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, ev)
}

func (b *backlog) take() []engine.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}

// turns returns how many requests a prompt may take where nobody watches it and nothing
// else is said; 0 is no limit.
func (s *Session) turns() int {
	const most = 200
	if s.opts.User.Attended() || s.MaxTurns != 0 || s.opts.Flags.MaxTurns != 0 || s.opts.Settings.Says("model.maxSessionTurns") {
		return 0
	}
	return most
}
