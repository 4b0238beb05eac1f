package program

import (
	"cmp"
	"context"
	"errors"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/tools"
)

// newCompressor makes what keeps a conversation within the model's context.
func (s *Session) newCompressor() *compress.Compressor {
	var window compress.Window
	if s.opts.Settings.ManageContext {
		window = compress.Window{Most: s.opts.Settings.WindowMost, Stay: s.opts.Settings.WindowStay}
	}
	return compress.New(compress.Config{
		Threshold: s.opts.Settings.Compression,
		Window:    window,
		Masking: compress.Masking{Protected: s.opts.Settings.MaskProtected, Least: s.opts.Settings.MaskLeast,
			Latest: s.opts.Settings.MaskLatest},
		Keep:     s.families.Commands.Outputs.Keep,
		Ask:      s.summary,
		Before:   func(ctx context.Context, by compress.Trigger) { s.hooks.Compress(ctx, string(by)) },
		Standing: tools.Standing,
	})
}

// summary asks a model for a summary.
func (s *Session) summary(ctx context.Context, q compress.Question) (string, error) {
	return s.asker.Text(ctx, oneshot.Question{Purpose: preset.Compression(q.Model), System: q.System,
		Contents: q.Contents, Tell: q.Notify})
}

// compress makes the conversation shorter, and keeps above all what keep says. What is
// told on the way is shown.
func (s *Session) compress(ctx context.Context, keep string, show func(engine.Event)) error {
	by := &compress.Command{Compressor: s.compressor, Keep: keep}
	var err error
	stopped := s.project.status.wait(ctx, engine.ErrCompressing.Error, func(ctx context.Context, do func(func())) {
		_, err = s.engine.Shorten(ctx, by, func(ev engine.Event) error {
			s.recorder.Compression(ev)
			s.noteSummary(ev)
			do(func() { show(ev) })
			return nil
		})
	})
	s.tellNotices()
	if by.Err == compress.ErrNothing {
		by.Err = &commands.Error{Message: by.Err.Error()}
	}
	return cmp.Or(stopped, err, by.Err, s.sync())
}

// noteSummary has the context files further down come with the next call there once more,
// if ev says that a summary stands for the answers that they came with.
func (s *Session) noteSummary(ev engine.Event) {
	n, _ := ev.(engine.Notice)
	if by := (*engine.Shortened)(nil); errors.As(n.Cause, &by) && by.Summed {
		s.memory.Reload()
	}
}
