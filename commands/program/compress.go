package program

import (
	"cmp"
	"context"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
)

// newCompressor makes what keeps the conversation within the model's context.
func (s *Session) newCompressor() {
	s.compressor = compress.New(compress.Config{
		Threshold: s.settings.Compression,
		Masking: compress.Masking{Protected: s.settings.MaskProtected, Least: s.settings.MaskLeast,
			Latest: s.settings.MaskLatest},
		Keep:   s.env.Keep,
		Ask:    s.summary,
		Before: func(ctx context.Context, by compress.Trigger) { s.hooks.Compress(ctx, string(by)) },
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
	_, err := s.engine.Shorten(ctx, by, func(ev engine.Event) error {
		s.recorder.Compression(ev)
		show(ev)
		return nil
	})
	s.tellNotices()
	if by.Err == compress.ErrNothing {
		by.Err = &commands.Error{Message: by.Err.Error()}
	}
	return cmp.Or(err, by.Err, s.sync())
}
