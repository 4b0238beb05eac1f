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
	// Threshold is the part of the model's context from which on a conversation is compressed; 0
	// means half.
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

	// PinnedResult, if not nil, returns a key for a call's answer that stays valid until the next
	// answer with the same key, such as a list of tasks, and "" for other answers. The last
	// answer of each key is not removed.
	PinnedResult func(answer *genai.FunctionResponse) string
}

// A Window bounds a conversation in tokens, whatever its model's context holds.
type Window struct {
	MaxTokens  int // the size from which on it is compressed; 0 is no bound
	KeptTokens int // about so many of the newest tokens are not summarized
}

// A Question is a request to a model outside the conversation.
type Question struct {
	Model    string // the model of the conversation
	System   string
	Contents []*genai.Content
	Notify   func(engine.Event)
}

// A Trigger is what starts a compression.
type Trigger string

// The triggers.
const (
	Auto   Trigger = "auto"
	Manual Trigger = "manual"
)

const (
	half = 0.5

	// budget is how many tokens of outputs remain in a compressed conversation.
	budget = 50_000

	// worth limits automatic compression: the compressed part is at least 1/worth of the
	// conversation.
	worth = 10

	// longest is the timeout of a compression, with all its requests.
	longest = 5 * time.Minute
)

// A Compressor is an [engine.Context] of one conversation. It must not be used
// concurrently.
type Compressor struct {
	cfg         Config
	sizes       map[*genai.FunctionResponse]int // tokens
	writeFailed bool                            // a failure to write files was reported
	model       string                          // the model to which refused applies
	refused     int                             // tokens that the server has refused, 0 if it has not
	next        int                             // the size in tokens from which on the next attempt is made
	fresh       bool                            // it has been compressed, and its new size is unknown
	larger      bool                            // a snapshot was larger than the turns it replaced
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

// due reports whether s must be compressed automatically.
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

// growth returns by how many tokens a conversation must grow before the next attempt.
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
	Err        error  // why the conversation was not compressed
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

// compress replaces the older part of s by a snapshot. If that fails, it returns the reason, and
// at most moves outputs to files.
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
	said = append(said, c.pinnedCalls(short, at)...)
	said = append(said, genai.NewContentFromText(thanks, genai.RoleModel))
	said = append(said, rest(short, at)...)
	if n := engine.Estimate(said); n >= before {
		c.larger = true
		whole := max(s.Size, before)                                                  // with the system prompt and the tools, as in the earlier notice
		again := map[Trigger]string{Auto: "; /compress in a session tries again"}[by] // not needed after /compress
		return lighter, &failure{fmt.Errorf("with its summary it would take about %s tokens instead of %s%s",
			text.Number(whole+n-before), text.Number(whole), again)}
	}
	c.fresh = true
	return engine.FitResult{History: said, Action: compressed, Summarized: true}, nil
}

// share is about how much of a conversation is summarized.
const share = 0.7

// split returns how many messages of said are summarized. The rest begins with a question of the
// user or, if that is not possible, with a step towards an answer. A snapshot alone is not
// summarized again. If stay is not 0, about stay tokens remain.
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

// longQuestion is the size in tokens from which on a question is not repeated.
const longQuestion = 10_000

// rest returns said without the first at messages. If the rest begins within a turn, the turn's
// question is put before it.
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

// pinnedCalls returns the calls with pinned results in said before at, with their answers, as a
// message of the model and a message of the user. It returns nil if there are none.
func (c *Compressor) pinnedCalls(said []*genai.Content, at int) []*genai.Content {
	if c.cfg.PinnedResult == nil {
		return nil
	}
	var made, answered []*genai.Part
	known := map[string]bool{"": true} // keys
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

// callOf returns the call with an id in said, nil if there is none.
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

// asks reports whether c is a message of the user that answers no calls.
func asks(c *genai.Content) bool { return c.Role == genai.RoleUser && !engine.HasAnswers(c) }
