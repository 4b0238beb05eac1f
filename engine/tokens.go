package engine

import (
	"cmp"
	"context"
	"strings"

	"google.golang.org/genai"
)

// A tokenEstimate is how many tokens the first messages of the history take, with the rest of a
// request: the server's count, plus a guess for each message since that count. Each message is
// guessed once.
type tokenEstimate struct {
	tokens   int
	messages int
	whole    bool // tokens include the rest of a request
}

// counted takes over the server's count of tokens. The last message is the answer, which may be
// incomplete. If several requests made it, the prompt of the first request is the conversation
// before the answer.
func (e *Engine) counted(m *message, whole bool) {
	u := m.total()
	prompt := cmp.Or(m.prompt, u.Prompt)
	if prompt == 0 {
		return
	}
	e.estimate = tokenEstimate{prompt, len(e.history) - 1, true}
	if whole && u.Output > 0 {
		e.estimate = tokenEstimate{prompt + u.Output, len(e.history), true}
	}
}

// measure counts the new messages, and returns the tokens of the last one.
func (e *Engine) measure(ctx context.Context) (last int, err error) {
	for s := &e.estimate; s.messages < len(e.history); s.messages++ {
		c := e.history[s.messages]
		n, binary := EstimateTokens(c.Parts)
		if binary && s.messages == len(e.history)-1 && e.limit() > 0 { // the estimate is coarse; the API knows
			exact, err := e.cfg.Generator.Count(ctx, &Request{Model: e.cfg.Model, Contents: []*genai.Content{c}})
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			if err == nil {
				n = exact
			}
		}
		s.tokens += n
		last = n
	}
	return last, nil
}

// cut drops the messages of history after the first n.
func (s *tokenEstimate) cut(history []*genai.Content, n int) {
	if n < s.messages {
		s.tokens = max(0, s.tokens-Estimate(history[n:s.messages]))
		s.messages = n
	}
}

// Estimate guesses how many tokens a conversation takes, as [EstimateTokens] does.
func Estimate(said []*genai.Content) (tokens int) {
	for _, c := range said {
		n, _ := EstimateTokens(c.Parts)
		tokens += n
	}
	return tokens
}

// EstimateTokens guesses how many tokens parts take. Binary reports that some hold binary data,
// for which the guess is coarse. The weights are the Gemini CLI's, since users have tuned limits
// and thresholds to them.
func EstimateTokens(parts []*genai.Part) (tokens int, binary bool) {
	sum := 0.0
	for _, p := range parts {
		switch {
		case p == nil:
		case p.InlineData != nil:
			sum, binary = sum+blob(p.InlineData.MIMEType, p.InlineData.Data), true
		case p.FileData != nil:
			binary = true
		case p.FunctionResponse != nil:
			sum += float64(len(p.FunctionResponse.Name)+size(p.FunctionResponse.Response)) / 4
			for _, m := range p.FunctionResponse.Parts {
				if m.InlineData != nil {
					sum += blob(m.InlineData.MIMEType, m.InlineData.Data)
				}
			}
		case p.FunctionCall != nil:
			sum += float64(size(p.FunctionCall)) / 4
		default:
			sum += estimateText(p.Text)
		}
	}
	return int(sum), binary
}

func blob(mime string, data []byte) float64 {
	const (
		image = 3000
		pdf   = 25800
	)
	switch {
	case mime == "application/pdf":
		return pdf
	case strings.HasPrefix(mime, "image/"):
		return image
	}
	return float64(len(data)) / 3
}

func estimateText(s string) float64 {
	const exact = 100_000 // bytes; a longer text is estimated by its length
	if len(s) > exact {
		return float64(len(s)) / 4
	}
	sum := 0.0
	for _, r := range s {
		if r < 0x80 {
			sum += 0.25
		} else {
			sum += 1.5
		}
	}
	return sum
}
