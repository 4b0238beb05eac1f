package limit

import (
	"context"
	"encoding/json"

	"google.golang.org/genai"

	"gemline/engine"
)

// leastAnswer is the least estimate of an answer's length, in tokens, however short the earlier
// answers were.
const leastAnswer = 1000

// A share is the estimated need of a request that is under way, until its cost is known.
type share struct {
	guess  int // tokens of the prompt, by its weight
	tokens int
	cost   float64
}

// A pass is the permission to make a request.
type pass struct {
	bound bound
	share share
}

// admit waits until a request may be made, and reserves its share until [Budget.spend] is called
// with the pass. Requests are admitted in the order of arrival.
//
// A single request gets the whole rest. A further request waits until the rest covers its share
// and the reserved shares. The sum exceeds a limit no more than a single request may, unless
// concurrent answers are far longer than all earlier answers.
func (b *Budget) admit(ctx context.Context, req *engine.Request) (p pass, err error) {
	select {
	case b.gate <- struct{}{}:
		defer func() { <-b.gate }()
	case <-ctx.Done():
		return p, ctx.Err()
	}
	for {
		freed, admitted, err := b.try(req, &p)
		if admitted || err != nil {
			return p, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
}

// try admits a request if the rest suffices now. Otherwise freed is closed when more is
// available. The error says why the request can't be made at all.
func (b *Budget) try(req *engine.Request, p *pass) (freed <-chan struct{}, admitted bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.bound, err = b.room(req, share{}); err != nil {
		return nil, false, err
	}
	p.share = b.share(req)
	if b.openRequests > 0 {
		if !b.covers(p.share) {
			return b.freed, false, nil
		}
		if p.bound, err = b.room(req, b.reserved); err != nil {
			return b.freed, false, nil // running requests have reserved everything
		}
	}
	b.openRequests++
	b.reserved.tokens += p.share.tokens
	b.reserved.cost += p.share.cost
	return nil, true, nil
}

// share estimates the need of req: its prompt, with the largest shortfall of earlier guesses
// added, and an answer twice as long as the longest so far. Before the first answer, the
// largest length possible is reserved.
func (b *Budget) share(req *engine.Request) share {
	answer := largest
	if b.longest > 0 {
		answer = max(leastAnswer, 2*b.longest)
	}
	if req.Config != nil && req.Config.MaxOutputTokens > 0 {
		answer = min(answer, int(req.Config.MaxOutputTokens))
	}
	guess := weight(req)
	prompt := max(b.least(req), guess+b.short)
	s := share{guess: guess, tokens: prompt + answer}
	if p, ok := b.price(req.Model); ok {
		s.cost = p.of(engine.Usage{Prompt: prompt, Output: answer})
	}
	return s
}

// covers reports whether the rest is enough for s, beside the shares of
// the requests under way.
func (b *Budget) covers(s share) bool {
	return (b.cfg.Tokens <= 0 || b.tokens+b.reserved.tokens+s.tokens <= b.cfg.Tokens) &&
		(b.cfg.Cost <= 0 || s.cost == 0 || b.cost+b.reserved.cost+s.cost <= b.cfg.Cost)
}

// release releases the share of a finished request.
func (b *Budget) release(s share) {
	b.openRequests--
	b.reserved.tokens -= s.tokens
	b.reserved.cost -= s.cost
	if b.openRequests == 0 {
		b.reserved = share{} // without rounding errors
	}
	close(b.freed)
	b.freed = make(chan struct{})
}

// weight guesses how many tokens the prompt of req takes.
func weight(req *engine.Request) int {
	said := req.Contents
	n := 0
	if req.Config != nil {
		said = append([]*genai.Content{req.Config.SystemInstruction}, said...)
		if b, err := json.Marshal(req.Config.Tools); err == nil {
			n = len(b) / 4
		}
	}
	for _, c := range said {
		if c != nil {
			parts, _ := engine.EstimateTokens(c.Parts)
			n += parts
		}
	}
	return n
}
