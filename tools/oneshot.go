package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// askTime is how long a model may take for what it is asked beside the
// conversation, all attempts together.
const askTime = time.Minute

// What may be wrong with a question beside the conversation.
var (
	errNobody = errors.New("no model can be asked")
	errEmpty  = errors.New("the answer is empty")
)

// oneShot asks the helping model one thing and returns its answer. What that
// takes is counted, and what is told on the way is shown.
func (env Env) oneShot(ctx context.Context, host engine.Host, prompt string, with ...*genai.Tool) (*genai.Candidate, error) {
	if env.Ask == nil || env.Helper == nil {
		return nil, errNobody
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req := &engine.Request{
		Model:    env.Helper(),
		Contents: []*genai.Content{genai.NewContentFromText(prompt, genai.RoleUser)},
		Config:   &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), TopP: genai.Ptr[float32](1), Tools: with},
		OneShot:  true,
		Notify: func(ev engine.Event) {
			if again, ok := ev.(engine.Retry); ok { // nothing that was shown is taken back
				ev = engine.Notice{Text: fmt.Sprintf("%v; asked again in %s", again.Err, again.Delay.Round(time.Second))}
			}
			host.Emit(ev)
		},
	}
	start := time.Now()
	var answer *genai.Candidate
	u := engine.NewUsage(req.Model)
	for resp, err := range env.Ask(ctx, req) {
		if err != nil {
			return nil, err
		}
		if u.Update(resp) {
			u.Took = time.Since(start)
			host.Emit(u)
		}
		if answer == nil && len(resp.Candidates) > 0 {
			answer = resp.Candidates[0]
		}
	}
	if answer == nil || answer.Content == nil {
		return nil, errEmpty
	}
	return answer, nil
}
