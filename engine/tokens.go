package engine

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// An OverflowError ends a Run whose question does not fit into what is left of
// the model's context. Nothing was sent.
type OverflowError struct{ Request, Remaining int } // tokens

// Error says how much too large the question is.
func (e *OverflowError) Error() string {
	return fmt.Sprintf("the message takes about %d tokens, and only %d are left in the model's context", e.Request, e.Remaining)
}

// checkSize checks that parts fit into the model's context.
func (e *Engine) checkSize(ctx context.Context, parts []*genai.Part) error {
	if e.cfg.TokenLimit == nil {
		return nil
	}
	limit := e.cfg.TokenLimit(e.cfg.Model)
	if limit == 0 {
		return nil
	}
	n, binary := EstimateTokens(parts)
	if binary { // the estimate is coarse; the API knows
		req := &Request{Model: e.cfg.Model, Contents: []*genai.Content{genai.NewContentFromParts(parts, genai.RoleUser)}}
		if exact, err := e.cfg.Generator.Count(ctx, req); err == nil {
			n = exact
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if rest := limit - e.prompt; n > rest {
		return &OverflowError{Request: n, Remaining: rest}
	}
	return nil
}

// EstimateTokens guesses how many tokens parts take, and reports whether some
// hold binary data, which makes the guess a coarse one. The weights are those of
// the Gemini CLI, whose users' limits and thresholds are tuned to them.
func EstimateTokens(parts []*genai.Part) (tokens int, binary bool) {
	const (
		image = 3000
		pdf   = 25800
	)
	sum := 0.0
	for _, p := range parts {
		switch {
		case p == nil:
		case p.InlineData != nil && p.InlineData.MIMEType == "application/pdf":
			sum, binary = sum+pdf, true
		case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
			sum, binary = sum+image, true
		case p.InlineData != nil:
			sum, binary = sum+float64(len(p.InlineData.Data))/3, true
		case p.FileData != nil:
			binary = true
		case p.FunctionResponse != nil:
			sum += float64(len(p.FunctionResponse.Name)+size(p.FunctionResponse.Response)) / 4
		case p.FunctionCall != nil:
			sum += float64(size(p.FunctionCall)) / 4
		default:
			sum += estimateText(p.Text)
		}
	}
	return int(sum), binary
}

func estimateText(s string) float64 {
	const exact = 100_000 // bytes; a longer text is not worth counting through
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
