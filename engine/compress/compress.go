package compress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// Config is what a Compressor needs from the world.
type Config struct {
	// Threshold is the share of the model's context that a conversation may take
	// before it is compressed; 0 means half.
	Threshold float64
	Window    Window
	Masking   Masking

	// Keep writes a tool's output, without its secrets, to a file that the model can read,
	// and returns the path. The file's name contains name.
	Keep func(name, output string) (path string, err error)

	// Ask asks a model a question beside the conversation, and returns its answer. Nil means
	// that no model is available.
	Ask func(ctx context.Context, q Question) (string, error)

	// Before, if not nil, is called when a conversation is about to be compressed.
	Before func(ctx context.Context, trigger Trigger)

	// PinnedResult, if not nil, returns a word for a call's answer that counts until the next
	// answer with the same word, such as a list of tasks, and "" for others. The last answer
	// of each word stays.
	PinnedResult func(answer *genai.FunctionResponse) string
}

// A Window bounds a conversation in tokens, whatever its model's context holds.
type Window struct {
	MaxTokens  int // from this on it is compressed; 0 is no bound
	KeptTokens int // about so many of the newest are not summed up
}

// A Question is a request to a model beside the conversation.
type Question struct {
	Model    string // that the conversation is held with
	System   string
	Contents []*genai.Content
	Notify   func(engine.Event)
}

// A Trigger is what a compression is begun by.
type Trigger string

// The triggers.
const (
	Auto   Trigger = "auto"
	Manual Trigger = "manual"
)

const (
	half = 0.5

	// budget is how many tokens of outputs stay in a conversation that is compressed.
	budget = 50_000

	// worth is the least part of a conversation, as 1/worth, that is compressed unasked.
	worth = 10

	// longest is how long a compression may take, whatever it asks.
	longest = 5 * time.Minute
)

// A Compressor is an [engine.Context] of one conversation. It must not be used
// concurrently.
type Compressor struct {
	cfg     Config
	sizes   map[*genai.FunctionResponse]int // tokens
	unkept  bool                            // a failure to write files was reported
	model   string                          // the model that refused is about
	refused int                             // tokens that the server has refused, 0 if it has not
	next    int                             // tokens of a conversation for the next attempt
	fresh   bool                            // it has been compressed, and its new size is not known yet
	larger  bool                            // a snapshot was larger than the turns it replaced
}

// New returns a Compressor.
func New(cfg Config) *Compressor {
	if cfg.Threshold <= 0 {
		cfg.Threshold = half
	}
	return &Compressor{cfg: cfg}
}

// Fit implements [engine.Context].
func (c *Compressor) Fit(ctx context.Context, s engine.FitRequest) engine.FitResult {
	if c.due(s) {
		short, err := c.compress(ctx, s, Auto, "")
		if err != nil && ctx.Err() == nil && err != ErrNothing {
			s.Notify(engine.Notice{Text: err.Error()})
		}
		if short.History != nil || ctx.Err() != nil {
			return short
		}
	}
	return engine.FitResult{History: c.mask(s, c.cfg.Masking), Action: unburdened}
}

// due reports whether s is to be compressed unasked.
func (c *Compressor) due(s engine.FitRequest) bool {
	if s.Model != c.model {
		c.model, c.refused, c.next = s.Model, 0, 0
	}
	if s.Refused {
		c.refused = s.Size
		return true
	}
	limit := s.Limit
	if c.refused > 0 {
		limit = min(c.refused, cmp.Or(limit, math.MaxInt))
	}
	full := int(math.Ceil(c.cfg.Threshold * float64(limit)))
	if most := c.cfg.Window.MaxTokens; most > 0 {
		full = min(most, cmp.Or(full, most))
	}
	if c.fresh {
		c.fresh, c.next = false, s.Size+c.growth(limit)
	}
	return full > 0 && s.Size >= full && s.Size >= c.next
}

// growth returns by how many tokens a conversation has to grow before it is tried again.
func (c *Compressor) growth(limit int) int {
	const part = 20
	if most := c.cfg.Window.MaxTokens; most > 0 {
		limit = min(most, cmp.Or(limit, most))
	}
	return limit / part
}

// A Command is an [engine.Context] that compresses the conversation at once.
type Command struct {
	Compressor *Compressor
	Keep       string // the user's words about the most important content
	Err        error  // why it stays as it is
}

// Fit implements [engine.Context].
func (m *Command) Fit(ctx context.Context, s engine.FitRequest) (short engine.FitResult) {
	short, m.Err = m.Compressor.compress(ctx, s, Manual, m.Keep)
	if short.History != nil && m.Err == ErrNothing {
		m.Err = nil
	}
	return short
}

// Notices to the user.
const (
	unburdened = "old outputs were put into files"
	compressed = "the conversation was compressed"
)

// ErrNothing says that a conversation has no older part.
var ErrNothing = errors.New("there is nothing to compress yet")

var (
	errEmpty  = errors.New("the model's summary is empty")
	errNobody = errors.New("no model can be asked for a summary")
	errLate   = fmt.Errorf("there was no summary within %v minutes", longest.Minutes())
)

// A failure is why a conversation was not compressed.
type failure struct{ err error }

func (f *failure) Error() string { return "the conversation was not compressed: " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// compress returns s with a snapshot in the place of its older part. If it can't make one, it
// says why, and at most moves outputs to files.
func (c *Compressor) compress(ctx context.Context, s engine.FitRequest, by Trigger, keep string) (engine.FitResult, error) {
	c.next = s.Size + c.growth(s.Limit)
	short := c.mask(s, Masking{Protected: budget})
	lighter := engine.FitResult{History: short, Action: unburdened}
	if short == nil {
		short = s.History
	}
	before := engine.Estimate(s.History)
	at := split(short, c.cfg.Window.KeptTokens)
	unasked := by == Auto && !s.Refused
	if at == 0 || unasked && (c.larger || engine.Estimate(s.History[:at]) < before/worth) {
		return lighter, ErrNothing
	}
	doing := fmt.Sprintf("%v, about %s", engine.ErrCompressing, text.Count(s.Size, "token"))
	if s.Refused {
		doing += ", which the server has refused as too long"
	}
	s.Notify(engine.Notice{Text: doing, Info: true, Cause: engine.ErrCompressing})
	if c.cfg.Before != nil {
		c.cfg.Before(ctx, by)
	}
	snapshot, err := c.snapshot(ctx, s, short[:at], keep)
	if err != nil {
		return lighter, &failure{err}
	}
	said := []*genai.Content{genai.NewContentFromText(snapshot, genai.RoleUser)}
	said = append(said, c.standing(short, at)...)
	said = append(said, genai.NewContentFromText(thanks, genai.RoleModel))
	said = append(said, rest(short, at)...)
	if n := engine.Estimate(said); n >= before {
		c.larger = true
		whole := max(s.Size, before)                                                  // as told above, with the system prompt and the tools
		again := map[Trigger]string{Auto: "; /compress in a session tries again"}[by] // who typed /compress knows it
		return lighter, &failure{fmt.Errorf("with its summary it would take about %s tokens instead of %s%s",
			text.Number(whole+n-before), text.Number(whole), again)}
	}
	c.fresh = true
	return engine.FitResult{History: said, Action: compressed, Summarized: true}, nil
}

// share is how much of a conversation is summed up, as far as its messages let it.
const share = 0.7

// split returns how many messages of said are summed up: so many that the rest begins with
// a question of the user's, or else with a step towards the answer to one. A snapshot is
// not summed up by itself. About stay tokens are not, if there are more and it is not 0.
func split(said []*genai.Content, stay int) int {
	known := 0
	if len(said) > 1 && isSnapshot(said[0]) {
		known = 2 // with the thanks
		if engine.HasCalls(said[1]) {
			known = 4 // and the calls that stand
		}
	}
	total := float64(engine.Estimate(said))
	share := share
	if rest := total - float64(stay); stay > 0 && rest > 0 {
		share = rest / total
	}
	sum, question, before, step := 0.0, 0, 0.0, 0
	for i, c := range said {
		switch {
		case i <= known:
		case asks(c) && sum >= share*total:
			return i
		case asks(c):
			question, before = i, sum
		case step == 0 && sum >= share*total && c.Role == genai.RoleModel && engine.HasAnswers(said[i-1]):
			step = i
		}
		sum += float64(engine.Estimate(said[i : i+1]))
	}
	switch n := len(said); {
	case n > known && said[n-1].Role == genai.RoleModel && !engine.HasCalls(said[n-1]):
		return n
	case before < total/2 && step > 0:
		return step
	}
	return question
}

// longQuestion is how many tokens a question has that is not said again.
const longQuestion = 10_000

// rest returns what stays of said behind the first at messages. If these are steps, the
// question that they are about stands before them.
func rest(said []*genai.Content, at int) []*genai.Content {
	if at == len(said) || asks(said[at]) {
		return said[at:]
	}
	for i := at - 1; i >= 0; i-- {
		if !asks(said[i]) {
			continue
		}
		if isSnapshot(said[i]) || engine.Estimate(said[i:i+1]) > longQuestion {
			break
		}
		return append([]*genai.Content{said[i]}, said[at:]...)
	}
	return said[at:]
}

// standing returns the calls of said before at that stand, and their answers: a message of
// the model and one of the user, nothing if there are none.
func (c *Compressor) standing(said []*genai.Content, at int) []*genai.Content {
	if c.cfg.PinnedResult == nil {
		return nil
	}
	var made, answered []*genai.Part
	known := map[string]bool{"": true} // words
	for i, m := range slices.Backward(said) {
		for _, p := range slices.Backward(m.Parts) {
			fr := p.FunctionResponse
			if fr == nil {
				continue
			}
			word := c.cfg.PinnedResult(fr)
			if known[word] {
				continue
			}
			known[word] = true
			if fc := callOf(said[:i], fr.ID); fc != nil && i < at {
				made = append(made, &genai.Part{FunctionCall: fc})
				answered = append(answered, &genai.Part{FunctionResponse: fr})
			}
		}
	}
	if made == nil {
		return nil
	}
	slices.Reverse(made)
	slices.Reverse(answered)
	return []*genai.Content{{Role: genai.RoleModel, Parts: made}, {Role: genai.RoleUser, Parts: answered}}
}

// callOf returns the call of an id, nil if there is none in said.
func callOf(said []*genai.Content, id string) *genai.FunctionCall {
	for _, m := range slices.Backward(said) {
		for _, p := range m.Parts {
			if p.FunctionCall != nil && p.FunctionCall.ID == id {
				return p.FunctionCall
			}
		}
	}
	return nil
}

// asks reports whether the user says c, and it answers no calls.
func asks(c *genai.Content) bool { return c.Role == genai.RoleUser && !engine.HasAnswers(c) }
