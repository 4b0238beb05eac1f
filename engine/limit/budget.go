package limit

import (
	"context"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// largest is the maximum answer of today's models, in tokens. A server may refuse a larger bound,
// so a larger rest sets no bound.
const largest = 65536

// A Budget is the unspent part of the user's limits. It is safe for concurrent use: concurrent
// requests share it, and wait for each other if it is too small for all.
type Budget struct {
	cfg  Config
	gate chan struct{} // held by the next request

	mu           sync.Mutex
	tokens       int
	cost         float64
	calls        int
	last         answered
	longest      int           // the longest answer so far, in tokens
	short        int           // the most by which a prompt had more tokens than was guessed
	openRequests int           // requests under way
	reserved     share         // the shares of these requests
	freed        chan struct{} // closed when one of them is over
}

// An answered is the last answered request, with its known tokens.
type answered struct {
	first    *genai.Part // with which its conversation begins
	contents int
	prompt   int // tokens
}

// An UnpricedError is the error of a request that is not made, since the cost is limited and the
// price of the model is unknown.
type UnpricedError struct{ Model string }

// Error implements error.
func (e *UnpricedError) Error() string {
	return "no price is known for " + e.Model + ", so --max-cost can't limit its costs"
}

// Hint says what to do.
func (e *UnpricedError) Hint() string {
	return "give its price in ~/.gemini/prices.toml (gemline help limits), or limit it by --max-tokens"
}

// New returns an unspent Budget.
func New(cfg Config) *Budget {
	return &Budget{cfg: cfg, gate: make(chan struct{}, 1), freed: make(chan struct{})}
}

// Reset makes the Budget unspent again, for a new conversation.
func (b *Budget) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens, b.cost, b.calls = 0, 0, 0
}

// Generator returns a Generator that asks g until the Budget is spent. It belongs below any
// Generator that repeats requests, to count every attempt.
//
// An answer cut by the bound counts as whole if it has text; its Notice has an [*Error] as
// its Cause, with which a [Budget.Watch] above ends the Run once the answer is in the
// history.
func (b *Budget) Generator(g engine.Generator) engine.Generator {
	if b.cfg.Tokens <= 0 && b.cfg.Cost <= 0 {
		return g
	}
	return meter{Generator: g, budget: b}
}

type meter struct {
	engine.Generator
	budget *Budget
}

// Generate implements [engine.Generator].
func (m meter) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		p, err := m.budget.admit(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		a := attempt{bound: p.bound, usage: engine.NewUsage(req.Model)}
		defer func() { m.budget.spend(req, p.share, &a) }()
		for chunk, err := range m.Generator.Generate(ctx, bounded(req, &a)) {
			if err == nil {
				a.observe(chunk)
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
		switch {
		case !a.cut:
		case !a.said:
			yield(nil, m.budget.cut(p.bound.kind, ", and it had not begun"))
		case req.Notify != nil:
			by := m.budget.cut(p.bound.kind, "")
			req.Notify(engine.Notice{Text: by.Message, Cause: by})
		}
	}
}

// cut returns the error of an answer that the bound of kind k has cut.
func (b *Budget) cut(k Kind, more string) *Error {
	return b.cfg.stopped(k, "the answer was cut short: %s is used up%s", k.flag(), more)
}

// A bound is the maximum length of an answer, and the limit that sets it.
type bound struct {
	kind   Kind
	tokens int
}

// bounded returns req with the bound of a. It clears a's bound if a lower limit holds anyway.
func bounded(req *engine.Request, a *attempt) *engine.Request {
	asked, config := *req, genai.GenerateContentConfig{}
	if req.Config != nil {
		config = *req.Config
	}
	if own := int(config.MaxOutputTokens); a.bound.tokens >= largest || own > 0 && own <= a.bound.tokens {
		a.bound = bound{}
		return req
	}
	config.MaxOutputTokens = int32(a.bound.tokens)
	asked.Config = &config
	return &asked
}

// An attempt is the answer to a request so far.
type attempt struct {
	bound   bound // zero if there is none
	usage   engine.Usage
	counted bool // by the server, in usage
	said    bool // something to read, or to do
	cut     bool // by the bound
}

// observe processes a chunk and may change it. If the bound has cut the answer, the finish reason
// is removed: the server did not cut the answer, and a repeated request would be cut again.
func (a *attempt) observe(chunk *genai.GenerateContentResponse) {
	a.counted = a.usage.Update(chunk) || a.counted
	if len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil {
		return
	}
	c := chunk.Candidates[0]
	if c.Content != nil {
		for _, p := range c.Content.Parts {
			a.said = a.said || p != nil && !p.Thought && (p.FunctionCall != nil || strings.TrimSpace(p.Text) != "")
		}
	}
	if c.FinishReason == genai.FinishReasonMaxTokens && a.bound.tokens > 0 && a.reached() {
		a.cut = true
		c.FinishReason, c.FinishMessage = genai.FinishReasonStop, ""
	}
}

// reached reports whether the answer is about as long as the bound. A model may have a lower
// bound of its own.
func (a *attempt) reached() bool {
	n := a.usage.Output + a.usage.Thoughts
	return n == 0 || 2*n >= a.bound.tokens // 0 if unknown
}

// room returns the bound of the answer to req, with the shares of other requests reserved, or the
// reason to refuse req.
func (b *Budget) room(req *engine.Request, held share) (most bound, err error) {
	prompt := b.least(req)
	most.tokens = math.MaxInt32
	if b.cfg.Tokens > 0 {
		if most, err = b.byTokens(prompt, held.tokens); err != nil {
			return most, err
		}
	}
	if b.cfg.Cost > 0 {
		price, known := b.price(req.Model)
		if !known {
			return most, &UnpricedError{Model: req.Model}
		}
		dear, err := b.byCost(price, prompt, held.cost)
		if err != nil || dear.tokens < most.tokens {
			return dear, err
		}
	}
	return most, nil
}

// byTokens returns the bound of an answer by the token limit, for a prompt of at least so many
// tokens.
func (b *Budget) byTokens(prompt, held int) (bound, error) {
	limit, left := quoted(Tokens, strconv.Itoa(b.cfg.Tokens)), b.cfg.Tokens-b.tokens-held
	switch {
	case left <= 0:
		return bound{}, b.refuse(Tokens, "stopped: %s tokens are used, and the limit is %s",
			text.Number(b.tokens), limit)
	case prompt >= left:
		return bound{}, b.refuse(Tokens, "stopped: the next request takes %s tokens or more, and %s leaves %s", text.Number(prompt), limit, text.Number(left))
	}
	return bound{Tokens, min(left-prompt, math.MaxInt32)}, nil
}

// byCost returns the bound of an answer by the cost limit.
func (b *Budget) byCost(price Price, prompt int, held float64) (bound, error) {
	limit, left := quoted(Cost, strconv.FormatFloat(b.cfg.Cost, 'f', -1, 64)), b.cfg.Cost-b.cost-held
	input := price.of(engine.Usage{Prompt: prompt, Cached: prompt}) // at least
	n := price.affords(left-input, prompt)
	switch {
	case left <= 0:
		return bound{}, b.refuse(Cost, "stopped: %s is spent, and the limit is %s", text.Money(b.cost), limit)
	case input >= left:
		return bound{}, b.refuse(Cost, "stopped: the next request costs %s or more, and %s leaves %s", text.Money(input), limit, text.Money(left))
	case n < 1:
		return bound{}, b.refuse(Cost, "stopped: %s leaves %s, which buys no answer", limit, text.Money(left))
	}
	return bound{Cost, n}, nil
}

// refuse returns the error of a request that is not made.
func (b *Budget) refuse(k Kind, format string, args ...any) error {
	e := b.cfg.stopped(k, format, args...)
	e.Unsent = true
	return e
}

// least returns the least number of tokens in the prompt of req: the last request's, if req
// continues the same conversation, else 0.
func (b *Budget) least(req *engine.Request) int {
	if b.last.first == nil || b.last.first != first(req) || len(req.Contents) < b.last.contents {
		return 0
	}
	return b.last.prompt
}

// first returns the part that a conversation begins with. It stays when
// neighbouring messages are put together.
func first(req *engine.Request) *genai.Part {
	if len(req.Contents) == 0 || req.Contents[0] == nil || len(req.Contents[0].Parts) == 0 {
		return nil
	}
	return req.Contents[0].Parts[0]
}

// price returns the price of a model, if it is known.
func (b *Budget) price(model string) (Price, bool) {
	if b.cfg.Price == nil {
		return Price{}, false
	}
	return b.cfg.Price(model)
}

// spend counts the cost of req by the usage in its answer, and releases its share s.
func (b *Budget) spend(req *engine.Request, s share, a *attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(s)
	if !a.counted {
		return
	}
	u := a.usage
	b.tokens += u.Sum()
	p, ok := b.price(u.Model)
	if !ok {
		p, ok = b.price(u.RequestedModel)
	}
	if ok {
		b.cost += p.of(u)
	}
	b.longest = max(b.longest, u.Output+u.Thoughts)
	b.short = max(b.short, u.Prompt+u.ToolUse-s.guess)
	b.last = answered{first: first(req), contents: len(req.Contents), prompt: u.Prompt}
}
