package tools

import (
	"context"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/oneshot"
)

// oneShot asks a model one thing beside the conversation and returns its answer. What
// that takes is counted, and what is told on the way is shown.
func (env Env) oneShot(ctx context.Context, host engine.Host, purpose, prompt string) (*genai.Candidate, error) {
	return env.Asker.Ask(ctx, oneshot.Question{Purpose: purpose, Tell: host.Emit,
		Contents: []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)}})
}
