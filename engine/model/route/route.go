package route

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
)

// Config is what a [Router] needs from the world.
type Config struct {
	// Model is the user's choice: the name of a model, or a name for automatic choice.
	Model string

	Presets *preset.Table
	Health  *Health

	// Asker asks the classifier of prompts; nil means that there is none.
	Asker *oneshot.Asker

	// Action is the reaction to a model that can't answer; Approver, if not nil, is asked if it
	// is Ask.
	Action   Action
	Approver engine.Approver

	// Mode returns the conversation's mode; nil stands for the zero Mode.
	Mode func() Mode

	// Small says that the smaller model answers if there is no score.
	Small bool

	// Thinking is the level of thinking: low, medium or high; empty is the presets' level.
	Thinking string

	// List returns the server's models; it is called if a model is missing, and may be nil.
	List func(context.Context) ([]string, error)

	// Decided, if not nil, is called with each decision.
	Decided func(Decision)
}

// A Mode has the properties of the approval mode that affect the choice.
type Mode struct {
	Planning bool // the model makes a plan
	Planned  bool // a plan was approved in this session
	Yolo     bool
}

// An Engine is the part of an [engine.Engine] that a Router needs.
type Engine interface {
	Model() string
	SetModel(name string)
	History() []*genai.Content
}

// A Router decides for one conversation. Only [Router.Answering] may be called concurrently.
type Router struct {
	cfg    Config
	wanted string
	engine Engine       // nil before the first prompt
	last   atomic.Value // a string, the last model that was reported, "" if none was
	notice string       // to the user, when an answer comes
}

// New returns a Router.
func New(cfg Config) *Router {
	if cfg.Mode == nil {
		cfg.Mode = func() Mode { return Mode{} }
	}
	cfg.Health = cmp.Or(cfg.Health, &Health{})
	return &Router{cfg: cfg, wanted: cfg.Model}
}

// Wanted returns the user's choice: the name of a model, or a name such as auto.
func (r *Router) Wanted() string { return cmp.Or(r.wanted, preset.Default) }

// Choose changes the user's choice. The model is tried again, whatever its state.
func (r *Router) Choose(name string) {
	r.wanted = name
	r.last.Store("")
	r.cfg.Health.forget(r.Model())
}

// Think changes how much models think: low, medium, high, or as the presets say.
func (r *Router) Think(level string) { r.cfg.Thinking = level }

// Model returns the default model: the model for the user's choice.
func (r *Router) Model() string { return r.cfg.Presets.Resolve(r.wanted) }

// Answering returns the model that answers the current prompt, or answered the last prompt.
func (r *Router) Answering() string {
	last, _ := r.last.Load().(string)
	return cmp.Or(last, r.Model())
}

// Shown returns the model to show to users: the chosen model, or auto for automatic choice.
// Another model may replace it.
func (r *Router) Shown() string {
	if _, auto := r.cfg.Presets.Auto(r.wanted); auto && r.cfg.Asker != nil {
		return r.Wanted()
	}
	return r.Model()
}

// A Decision is the choice of a model.
type Decision struct {
	Model  string // "" if the earlier decision holds
	Source string // the strategy that decided, by its name in the Gemini CLI's records
	Reason string // a few words, "" if obvious
	Took   time.Duration
	Err    error // why the classifier could not decide, nil if it could or was not asked

	quiet bool   // not reported
	late  string // the reason, reported with the answer; may be empty
}

// The strategies.
const (
	fromFallback = "agent-router/fallback"
	fromOverride = "agent-router/override"
	fromMode     = "agent-router/approval-mode"
	fromChoice   = "agent-router/classifier"
	fromScore    = "agent-router/numerical_classifier"
	fromDefault  = "agent-router/default"
)

// Run returns a Run for one prompt, which asks the chosen model. Further calls of the Run, to
// repair an answer, belong to the same prompt.
func (r *Router) Run(talk Engine, run engine.Run) engine.Run {
	decided, mode := false, Mode{}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		r.engine = talk
		left := false
		tell := func(ev engine.Event) { left = left || !yield(ev, nil) }
		choose := func(parts []*genai.Part) {
			decided, mode = true, r.cfg.Mode()
			r.take(r.decide(ctx, mode, parts, tell), tell)
		}
		changed := func() bool { return r.cfg.Mode() != mode }
		if ending := r.cfg.Presets.Ending(r.wanted); ending != "" && r.cfg.Health.News(ending) {
			tell(engine.Notice{Text: ending})
		}
		if !decided {
			choose(parts)
		} else if changed() {
			choose(nil)
		}
		if left {
			return
		}
		for ev, err := range run(ctx, parts...) {
			if err == nil && r.notice != "" && answers(ev) {
				tell(engine.Notice{Text: r.notice, Info: true})
				r.notice = ""
			}
			if left || !yield(ev, err) {
				return
			}
			if _, over := ev.(engine.CallFinished); over && changed() {
				choose(nil)
			}
			if left {
				return
			}
		}
	})
}

// answers reports whether an event is of an answer, so that the request has not failed.
func answers(ev engine.Event) bool {
	switch ev.(type) {
	case engine.Text, engine.Thought, engine.AnswerFinished, engine.CallFinished:
		return true
	}
	return false
}

// take applies a decision. It reports a change of the model by tell, unless d is quiet. The first
// choice counts as a change if it is not the expected model.
func (r *Router) take(d Decision, tell func(engine.Event)) {
	if d.Model == "" {
		return
	}
	if r.cfg.Decided != nil {
		r.cfg.Decided(d)
	}
	r.engine.SetModel(d.Model)
	if d.late != "" {
		r.notice = d.Model + " answers: " + d.late
	}
	if r.Answering() != d.Model && !d.quiet {
		why := ""
		if d.Reason != "" && d.Source != fromScore {
			why = ": " + d.Reason
		}
		tell(engine.Notice{Text: d.Model + " answers" + why, Info: true})
	}
	r.last.Store(d.Model)
}

// decide tries the strategies in order. Without parts, the prompt continues, and the earlier
// decision holds unless the mode requires another.
func (r *Router) decide(ctx context.Context, mode Mode, parts []*genai.Part, tell func(engine.Event)) (d Decision) {
	start := time.Now()
	defer func() { d.Took = time.Since(start) }()
	large := r.Model()
	small, auto := r.cfg.Presets.Auto(r.wanted)
	if d, down := r.instead(large); down {
		return d
	}
	switch {
	case !auto && parts == nil: // a replacement may answer
		return Decision{}
	case !auto:
		return Decision{Model: large, Source: fromOverride}
	case mode.Planning:
		d = Decision{Model: large, Source: fromMode, Reason: "it makes plans"}
	case mode.Planned:
		d = Decision{Model: small, Source: fromMode, Reason: "it carries out plans"}
	case parts == nil:
		return Decision{}
	default:
		d = r.byClass(ctx, parts, large, small, tell)
	}
	if r.cfg.Health.Down(d.Model) {
		return Decision{Model: large, Source: fromDefault, Err: d.Err, late: d.late, quiet: d.quiet}
	}
	return d
}

// instead returns the replacement of a model that can't answer.
func (r *Router) instead(name string) (Decision, bool) {
	id := r.cfg.Presets.Chat(name, false).Model
	if r.cfg.Action == Off || !r.cfg.Health.Down(id) {
		return Decision{}, false
	}
	rest := r.first(id).substitutes
	if len(rest) == 0 {
		return Decision{}, false
	}
	return Decision{Model: rest[0].Model, Source: fromFallback,
		Reason: id + " can't at the moment" + r.cfg.Presets.PriceNote(rest[0].Model, id)}, true
}

// byClass decides by the difficulty of the prompt.
func (r *Router) byClass(ctx context.Context, parts []*genai.Part, large, small string,
	tell func(engine.Event)) Decision {
	d := Decision{Model: large, Source: fromDefault, quiet: r.cfg.Approver == nil}
	if r.cfg.Asker == nil || textOf(parts) == "" {
		return d
	}
	if !r.cfg.Health.classifies() {
		return r.unscored(large, small)
	}
	hard, reason, err := r.hard(ctx, parts, r.cfg.Presets.UsesScoring(large), tell)
	if ctx.Err() != nil {
		return d
	}
	last := r.cfg.Health.classified(err == nil)
	if err != nil {
		d = r.unscored(large, small)
		if d.Err, d.late = err, "the router gave no score"; last {
			d.late = "the router has failed twice, and is not asked again"
		}
		return d
	}
	d.Reason, d.Source = reason, fromScore
	if reason == "" {
		d.Source = fromChoice
	}
	if !hard {
		d.Model = small
	}
	return d
}

// unscored decides without a score.
func (r *Router) unscored(large, small string) Decision {
	d := Decision{Model: large, Source: fromDefault, quiet: true}
	if r.cfg.Small {
		d.Model = small
	}
	return d
}

// hard reports whether the larger model should answer a prompt, and the score, if there is one.
func (r *Router) hard(ctx context.Context, parts []*genai.Part, scored bool,
	tell func(engine.Event)) (hard bool, score string, err error) {
	q := oneshot.Question{Purpose: "classifier", System: scoreDoc, Once: true, Tell: tell,
		Quiet: true} // a failure affects only the choice
	schema := scoreSchema
	q.Contents = excerpt(r.engine.History(), 8, 8, parts)
	if !scored {
		schema, q.System, q.Contents = choiceSchema, choiceDoc, excerpt(r.engine.History(), 20, 4, parts)
	}
	var g grade
	if err = r.cfg.Asker.JSON(ctx, q, schema, &g); err == nil && g.Score > 0 {
		score = fmt.Sprintf("complexity %d of 100", g.Score)
	}
	return g.Hard, score, err
}
