package session

import (
	"cmp"
	"context"
	"errors"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/hook"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/settings"
	"gemline/tools"
)

// newCompressor returns the compressor that keeps a conversation within the model's context. Asker
// asks for summaries, and keep stores outputs.
func newCompressor(o *settings.Settings, asker *oneshot.Asker, h *hook.Hooks, keep func(name, text string) (string, error)) *compress.Compressor {
	var window compress.Window
	if o.ManageContext {
		window = compress.Window{MaxTokens: o.WindowMost, KeptTokens: o.WindowStay}
	}
	return compress.New(compress.Config{
		Threshold: o.Compression,
		Window:    window,
		Masking:   compress.Masking{Protected: o.MaskProtected, Least: o.MaskLeast, Latest: o.MaskLatest},
		Keep:      keep,
		Ask: func(ctx context.Context, q compress.Question) (string, error) {
			return asker.Text(ctx, oneshot.Question{Purpose: preset.Compression(q.Model), System: q.System,
				Contents: q.Contents, Tell: q.Notify})
		},
		Before:       func(ctx context.Context, by compress.Trigger) { h.Compress(ctx, string(by)) },
		PinnedResult: tools.PinnedResult,
	})
}

// Compress shortens the conversation. Keep names what the summary must hold, "" for nothing
// special; show prints the events.
func (s *Session) Compress(ctx context.Context, keep string, show func(engine.Event)) error {
	by := &compress.Command{Compressor: s.compressor, Keep: keep}
	var err error
	stopped := s.Project.Status.Wait(ctx, engine.ErrCompressing.Error, func(ctx context.Context, do func(func())) {
		_, err = s.Engine.Shorten(ctx, by, func(ev engine.Event) error {
			s.Models.recorder.Compression(ev)
			s.observe(ev)
			do(func() { show(ev) })
			return nil
		})
	})
	s.Notices.PrintHooks(s.Hooks)
	if by.Err == compress.ErrNothing {
		by.Err = &commands.Error{Message: by.Err.Error()}
	}
	return cmp.Or(stopped, err, by.Err, s.Journal.sync())
}

// observe acts on an event. It records the places of conversations with agents. After a summary it
// makes the memory forget which context files the model has seen: the summary has replaced them.
func (s *Session) observe(ev engine.Event) {
	n, _ := ev.(engine.Notice)
	if by := (*engine.ConversationShortened)(nil); errors.As(n.Cause, &by) && by.Summarized {
		s.Memory.Reload()
	}
	if err := s.agents.recordPlaces(ev); err != nil {
		s.Project.Status.Queue.Add(engine.Notice{Text: "a resumed session will begin anew with agents on other servers: " + err.Error()})
	}
}
