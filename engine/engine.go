package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// Config is what an Engine needs from the world. Without Tools, nobody judges calls
// or is asked about them.
type Config struct {
	Model     string
	Generator Generator
	Tools     Toolset
	Policy    Policy
	Approver  Approver

	// System returns the system instruction. It is called for each request, since the text
	// depends on the approval mode and the memory files.
	System func() string

	// Opening, if not nil, returns the first message of the conversation. It is called once,
	// before the first request.
	Opening func(ctx context.Context) *genai.Content

	// Journal, if not nil, records the conversation.
	Journal Journal

	// MaxTurns is how many requests the Engine may make; 0 means no limit.
	MaxTurns int

	// TokenLimit returns how many tokens a model's context holds. Nil or 0
	// means that nobody checks.
	TokenLimit func(model string) int

	// Context, if not nil, keeps the conversation within the TokenLimit.
	Context Context
}

// ErrMaxTurns ends a Run that has used up [Config.MaxTurns].
var ErrMaxTurns = errors.New("reached max session turns for this session")

// ErrCut is the cause of a [Notice] that the model's server ended an answer early.
var ErrCut = errors.New("the answer is not whole")

// errStopped unwinds a Run whose consumer has left the loop.
var errStopped = errors.New("consumer stopped")

// An Engine is one conversation. It must not be used concurrently.
type Engine struct {
	cfg      Config
	history  []*genai.Content
	opened   bool
	opening  *genai.Content // in the history, or nil
	waiting  bool           // the last message has no answer
	turns    int            // requests made
	serial   int            // call ids given out
	seen     map[string]bool
	estimate tokenEstimate
	wire     wire
}

// New returns an Engine that continues the conversation past, which must not
// contain an opening message and is not recorded again.
func New(cfg Config, past ...*genai.Content) *Engine {
	e := &Engine{cfg: cfg, seen: map[string]bool{}}
	if cfg.Tools == nil {
		e.cfg.Tools = Tools{}
	}
	e.resume(past)
	return e
}

// History returns the conversation so far. The caller must not modify it.
func (e *Engine) History() []*genai.Content { return e.history }

// Model returns the name of the model that is asked.
func (e *Engine) Model() string { return e.cfg.Model }

// SetModel changes the model for the requests to come.
func (e *Engine) SetModel(name string) { e.cfg.Model = name }

// Add appends an action of the user to the history; the model learns of it with the next request.
func (e *Engine) Add(ctx context.Context, parts ...*genai.Part) error {
	drop := func(Event) error { return nil }
	e.open(ctx, drop)
	if err := e.interrupted(drop); err != nil {
		return err
	}
	return e.say(genai.NewContentFromParts(parts, genai.RoleUser), drop)
}

// Interject adds parts to the next request of a Run. Only the consumer of the Run may call
// it, during a [RequestStarted] other than the first.
func (e *Engine) Interject(emit func(Event) error, parts ...*genai.Part) error {
	return e.say(genai.NewContentFromParts(parts, genai.RoleUser), emit)
}

// A Run sends parts to the model and yields the events that follow. An error is yielded at
// most once, with a nil Event, and is the last thing yielded. The consumer must
// range to the end or break. A feature around a conversation wraps its
// Run in another one.
type Run func(ctx context.Context, parts ...*genai.Part) iter.Seq2[Event, error]

// A Yield passes an event, or an error, to the consumer of a [Run], and reports whether the
// consumer continues.
type Yield = func(Event, error) bool

// NewRun returns a Run whose events do yields.
func NewRun(do func(ctx context.Context, parts []*genai.Part, yield Yield)) Run {
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[Event, error] {
		return func(yield func(Event, error) bool) { do(ctx, parts, yield) }
	}
}

// Run is the conversation's [Run].
func (e *Engine) Run(ctx context.Context, parts ...*genai.Part) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stopped := false
		emit := func(ev Event) error {
			if stopped = stopped || !yield(ev, nil); stopped {
				cancel()
				return errStopped
			}
			return nil
		}
		if err := e.converse(ctx, parts, emit); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// emitFunc shows an event to the consumer. Its error, if any, ends the Run.
type emitFunc func(Event) error

func (e *Engine) converse(ctx context.Context, parts []*genai.Part, emit emitFunc) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.open(ctx, emit)
	question := genai.NewContentFromParts(parts, genai.RoleUser)
	for asked := true; ; asked = false {
		if e.cfg.MaxTurns > 0 && e.turns >= e.cfg.MaxTurns {
			return ErrMaxTurns
		}
		if asked {
			if err := e.interrupted(emit); err != nil {
				return err
			}
			if err := e.say(question, emit); err != nil {
				return err
			}
			e.waiting = true
		}
		said, err := (*genai.Content)(nil), e.fit(ctx, emit)
		if err == nil {
			said, err = e.request(ctx, emit)
		}
		if said == nil && err != nil {
			if asked && ctx.Err() == nil { // so that the possible cause is not sent again
				e.takeBack(emit)
			}
			return err
		}
		if said == nil {
			return nil
		}
		if err != nil { // cut short; earlier messages stay
			e.cancelCalls(calls(said), err)
			return err
		}
		fcs := calls(said)
		if len(fcs) == 0 {
			return nil
		}
		if err := e.act(ctx, fcs, emit); err != nil {
			return err
		}
	}
}

// open puts the opening message before everything else.
func (e *Engine) open(ctx context.Context, emit emitFunc) {
	if e.opened || e.cfg.Opening == nil {
		return
	}
	e.opened = true
	c := e.cfg.Opening(ctx)
	if c == nil || len(c.Parts) == 0 {
		return
	}
	e.opening = c
	e.replace(append([]*genai.Content{c}, e.history...))
	e.record(Entry{Content: c, Opening: true}, emit)
}

// RefreshOpening replaces the opening message, if there is one, for later requests. It must not
// be called during a Run.
func (e *Engine) RefreshOpening(ctx context.Context) {
	at := slices.Index(e.history, e.opening)
	if e.opening == nil || at < 0 {
		return
	}
	c := e.cfg.Opening(ctx)
	if c == nil || len(c.Parts) == 0 {
		return
	}
	e.opening = c
	e.replace(slices.Concat(e.history[:at], []*genai.Content{c}, e.history[at+1:]))
	e.record(Entry{Content: c, Opening: true}, func(Event) error { return nil })
}

// say appends what the user said to the history.
func (e *Engine) say(c *genai.Content, emit emitFunc) error {
	e.history = append(e.history, c)
	return e.record(Entry{Content: c}, emit)
}

// record stores en. The first failure of the journal is reported, and the journal is not used any
// more: the conversation matters more than its record.
func (e *Engine) record(en Entry, emit emitFunc) error {
	if e.cfg.Journal == nil {
		return nil
	}
	if err := e.cfg.Journal.Record(en); err != nil {
		return emit(Notice{Text: e.unrecorded(err).Error()})
	}
	return nil
}

func (e *Engine) unrecorded(err error) error {
	e.cfg.Journal = nil
	return fmt.Errorf("this session is no longer saved: %w", err)
}

// takeBack removes a question whose request failed.
func (e *Engine) takeBack(emit emitFunc) {
	if err := e.Rewrite(e.history[:len(e.history)-1]); err != nil {
		emit(Notice{Text: err.Error()})
	}
}

// Rewrite replaces the conversation by said, as a compression or a rewind does. Every call in
// said must have its answer; the opening message stays first. The journal records the change
// first; after an error of the journal, which Rewrite returns, the journal is not used any more.
// Rewrite must not be called during a Run.
func (e *Engine) Rewrite(said []*genai.Content) (err error) {
	said = e.unopened(said)
	if e.cfg.Journal != nil {
		if err = e.cfg.Journal.Rewrite(said); err != nil {
			err = e.unrecorded(err)
		}
	}
	var opening []*genai.Content
	if e.opening != nil {
		opening = append(opening, e.opening)
	}
	e.replace(slices.Concat(opening, said))
	e.waiting = false
	e.index(said)
	return err
}

// unopened returns said without an opening message.
func (e *Engine) unopened(said []*genai.Content) []*genai.Content {
	if len(said) > 0 && said[0] == e.opening {
		return said[1:]
	}
	return said
}

// resume appends the earlier conversation.
func (e *Engine) resume(said []*genai.Content) {
	e.history = append(e.history, said...)
	e.index(said)
}

// index notes the ids of calls in said, and whether said waits for an answer.
func (e *Engine) index(said []*genai.Content) {
	e.waiting = Waiting(said)
	for _, c := range said {
		for _, fc := range calls(c) {
			e.seen[fc.ID] = true
		}
	}
}

// request reads the model's answer to the end and appends it to the history. An answer beside an
// error arrived before a cancellation; a failed answer is dropped. If the server refuses the
// request as too long and the conversation can be shortened, request repeats it once.
func (e *Engine) request(ctx context.Context, emit emitFunc) (*genai.Content, error) {
	e.turns++
	if err := emit(RequestStarted{Number: e.turns, Model: e.cfg.Model}); err != nil {
		return nil, err
	}
	said, err := e.ask(ctx, emit)
	if said != nil || !errors.Is(err, ErrTooLong) || ctx.Err() != nil {
		return said, err
	}
	switch shorter, serr := e.shorten(ctx, e.cfg.Context, true, emit); {
	case serr != nil:
		return nil, serr
	case !shorter:
		return nil, err
	}
	if err := emit(Retry{Attempt: 1, MaxAttempts: 2, Err: err}); err != nil {
		return nil, err
	}
	return e.ask(ctx, emit)
}

// ask makes one request.
func (e *Engine) ask(ctx context.Context, emit emitFunc) (*genai.Content, error) {
	model, start := e.cfg.Model, time.Now()
	empty := message{usage: NewUsage(model)}
	m := empty
	var failed error // of emit, inside Notify
	req := &Request{Model: model, Contents: e.contents(), Config: &genai.GenerateContentConfig{
		Tools: declare(e.cfg.Tools.Tools(), e.cfg.Policy),
	}, Notify: func(ev Event) {
		if _, ok := ev.(AnswerContinued); ok {
			m.goOn()
			return
		}
		if r, ok := ev.(Retry); ok && r.Model != "" {
			empty.usage = NewUsage(r.Model)
		}
		if r, ok := ev.(Retry); ok && (r.Restart || r.Model != "") {
			m = empty
		}
		if failed == nil {
			failed = emit(ev)
		}
	}}
	if e.cfg.System != nil {
		if s := e.cfg.System(); s != "" {
			req.Config.SystemInstruction = genai.NewContentFromText(s, genai.RoleUser)
		}
	}
	var err error
	for chunk, cerr := range e.cfg.Generator.Generate(ctx, req) {
		if err = cerr; err == nil {
			err = m.add(chunk, emit)
		}
		if err = cmp.Or(err, failed); err != nil {
			break
		}
	}
	err = cmp.Or(err, failed)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	err = cmp.Or(ctx.Err(), err) // a cancelled request may fail with any error
	return e.keepAnswer(&m, time.Since(start), err, emit)
}

// keepAnswer appends a message of the model to the history.
func (e *Engine) keepAnswer(m *message, took time.Duration, cut error, emit emitFunc) (*genai.Content, error) {
	said := m.content()
	if said == nil {
		return nil, cut
	}
	for _, fc := range calls(said) {
		e.identify(fc)
	}
	e.history = append(e.history, said)
	e.waiting = false
	entry := Entry{Content: said, Model: m.usage.Model, Thoughts: m.thoughts(), Cited: m.cited, Cut: cut != nil}
	if m.counted {
		usage := m.total()
		usage.Took = took
		entry.Usage = &usage
		e.counted(m, cut == nil)
	}
	cut = cmp.Or(cut, e.record(entry, emit))
	cut = cmp.Or(cut, emit(AnswerFinished{}))
	if entry.Usage != nil { // tokens count in any case
		cut = cmp.Or(cut, emit(*entry.Usage))
	}
	if cut == nil && len(m.cited) > 0 {
		cut = emit(Citations{m.cited})
	}
	if r := m.finish; cut == nil && r != "" && r != genai.FinishReasonStop && m.text {
		cut = emit(Notice{Text: "the answer was cut short by the model's server: " + string(r), Cause: ErrCut})
	}
	return said, cut
}

// identify gives a call a name and an id that no other call of the
// conversation has.
func (e *Engine) identify(fc *genai.FunctionCall) {
	Normalize(fc)
	if fc.ID == "" || e.seen[fc.ID] {
		fc.ID = fmt.Sprintf("%s_%d_%d", text.Shorten(fc.Name, 60), time.Now().UnixNano(),
			e.serial) // agents side by side share a millisecond
		e.serial++
	}
	e.seen[fc.ID] = true
}

// Normalize gives fc the name and the id that the engine knows it by: a name that
// is not empty and has no namespace before it, which models add at times, and the id
// without the name before it.
func Normalize(fc *genai.FunctionCall) {
	fc.Name = strings.TrimSpace(fc.Name)
	for _, namespace := range []string{"default_api:", "default_api."} {
		fc.Name = strings.TrimPrefix(fc.Name, namespace)
	}
	fc.Name = cmp.Or(fc.Name, "generic_tool")
	fc.ID = strings.TrimPrefix(fc.ID, fc.Name+"__")
}

// CallID returns the id that events and records use for a call.
func CallID(fc *genai.FunctionCall) string { return fc.Name + "__" + fc.ID }
