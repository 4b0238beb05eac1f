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
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/loop"
	"gemline/engine/media"
	"gemline/engine/steer"
)

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

// late returns the hints that came too late for the model to be told while it works.
func late(h *steer.Hints) (texts []string) {
	for _, one := range h.Take() {
		texts = append(texts, one.Text)
	}
	return texts
}
