package program

import "gemline/engine/compress"

// newCompressor makes what keeps the conversation within the model's context.
func (s *Session) newCompressor() {
	s.compressor = compress.New(compress.Config{
		Masking: compress.Masking{Protected: s.settings.MaskProtected, Least: s.settings.MaskLeast, Latest: s.settings.MaskLatest},
		Keep:    s.env.Keep,
	})
}
