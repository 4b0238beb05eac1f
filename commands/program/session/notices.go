package session

import (
	"context"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/hook"
)

// Notices prints warnings beside the answers of a conversation.
type Notices struct {
	status *project.Status
	warn   func(string)       // nil uses the project's status
	queue  project.EventQueue // notices of requests that came while a call was prepared
}

// Notify prints a warning: with the next event of a run, or at once.
func (n *Notices) Notify(text string) {
	switch {
	case n.warn == nil:
		n.status.Notify(text)
	case !n.queue.Offer(engine.Notice{Text: text}):
		n.warn(text)
	}
}

// PrintHooks prints the notices of hooks that ran outside of a run.
func (n *Notices) PrintHooks(h *hook.Hooks) {
	for _, said := range h.Notices() {
		if said.Info {
			n.status.PrintInfo(said.Text)
		} else {
			n.Notify(said.Text)
		}
	}
}

// withNotices returns a run that also yields the queued notices of requests, servers and agents,
// with the next event that is not a part of an answer. Note is called with each event of run before
// it is yielded.
func (n *Notices) withNotices(run engine.Run, note func(engine.Event)) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		told := func() bool {
			for _, next := range append(n.queue.Take(), n.status.Queue.Take()...) {
				if !yield(next, nil) {
					return false
				}
			}
			return true
		}
		failed := false
		defer n.queue.Open()()
		defer n.status.Queue.Open()()
		for ev, err := range run(ctx, parts...) {
			note(ev)
			failed = err != nil
			if !isAnswerPart(ev) && !told() || !yield(ev, err) {
				return
			}
		}
		if !failed {
			told()
		}
	})
}

// isAnswerPart reports whether ev is a part of an answer. No notice may interrupt an answer.
func isAnswerPart(ev engine.Event) bool {
	switch ev.(type) {
	case engine.Text, engine.Thought:
		return true
	}
	return false
}
