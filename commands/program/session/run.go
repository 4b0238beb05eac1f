package session

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/loop"
	"gemline/engine/media"
)

// Run sends parts to the model, within the budget. It is an [engine.Run].
func (s *Session) Run(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return s.PromptRun()(ctx, parts...)
}

// PromptRun returns the Run of one prompt. Later calls of the Run belong to the same prompt: the
// same model answers, and the counts of repetitions continue. Hooks and checks wrap the Run, and
// may call it again; a prompt that a hook blocks reaches no model.
func (s *Session) PromptRun() engine.Run {
	run := s.Hints.Run(s.Engine, s.Notices.withNotices(s.Journal.File.RecordCalls(media.Store(s.Engine.Run, s.Engine.History, s.Journal.outputDir)), s.observe), s.Hooks.Hint)
	if !s.Project.Options.Settings.SkipNextSpeaker {
		run = loop.Continue(run, s.Models.asker, s.Engine.History)
	}
	run = s.checkConfig().Wrap(s.Hooks.Run(s.Models.Router.Run(s.Engine, s.guard.Run(run))))
	run = s.Keeper.Run(s.Models.withinBudget(s.Models.recorder.Run(limit.Turns(run, maxTurns(s.Project.Options, s.Config)))))
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		left := false
		s.Project.MCP.Await(ctx, func(text string) { left = !yield(engine.Notice{Text: text, Info: true}, nil) })
		if left {
			return
		}
		s.Tools.printSkillProblems(s.Notices.Notify)
		defer s.Rules.allowedTools.Store(nil)
		s.withContextReload(journal.SyncRun(s.Journal.saver.Run(run), s.Journal.sync))(ctx, parts...)(yield)
	})
}

// withContextReload returns a run that reloads the context files at its end, if run has made a
// context file, as /init does. It reloads nothing if no prompt follows.
func (s *Session) withContextReload(run engine.Run) engine.Run {
	if !s.Project.Options.User.AnswersQuestions() {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		made, left := "", false
		for ev, err := range run(ctx, parts...) {
			if f, ok := ev.(engine.CallFinished); ok {
				made = cmp.Or(newContext(f.Result.Changes, s.Project.Workspace.Roots(), s.Memory.Names()), made)
			}
			if left = !yield(ev, err); left {
				break
			}
		}
		if made == "" {
			return
		}
		s.Memory.Update()
		if s.Engine.RefreshOpening(ctx); !left {
			yield(engine.Notice{Text: "the next request has " + made + " as a context file", Info: true}, nil)
		}
	})
}

// newContext returns the name of a context file that was created in one of roots, "" if there is
// none.
func newContext(changes []engine.Change, roots, names []string) string {
	for _, c := range changes {
		dir, name := filepath.Split(c.Path)
		if c.Created && slices.Contains(roots, filepath.Clean(dir)) && slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// maxTurns returns the limit of requests for a prompt without a user and without a setting; 0 is no
// limit.
func maxTurns(o *project.Options, c Config) int {
	const most = 200
	if o.User.HasUser() || c.MaxTurns != 0 || o.Flags.MaxTurns != 0 || o.Settings.IsSet("model.maxSessionTurns") {
		return 0
	}
	return most
}
