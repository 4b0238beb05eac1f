package compress

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"gemline/engine"
)

// Config is what a Compressor needs from the world.
type Config struct {
	Masking Masking

	// Keep writes what a tool has put out to a file of its own, which the model can
	// read, without the secrets in it, and returns its path. The name is part of
	// that of the file.
	Keep func(name, output string) (path string, err error)
}

// A Compressor is an [engine.Context]. It must not be used concurrently.
type Compressor struct {
	cfg    Config
	sizes  map[*genai.FunctionResponse]int // tokens
	unkept bool                            // it was told that files can't be written
}

// New returns a Compressor of one conversation.
func New(cfg Config) *Compressor { return &Compressor{cfg: cfg} }

// Fit implements [engine.Context].
func (c *Compressor) Fit(_ context.Context, s engine.Sending) engine.Shorter {
	said, err := c.mask(s.Said, c.cfg.Masking, preview)
	c.tell(s, err)
	return engine.Shorter{Said: said, How: "old outputs were put into files"}
}

// tell says once that outputs can't be put into files.
func (c *Compressor) tell(s engine.Sending, err error) {
	if err != nil && !c.unkept {
		c.unkept = true
		s.Notify(engine.Notice{Text: fmt.Sprintf("old outputs stay in the conversation: %v", err)})
	}
}
