package route

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
)

// Config is what a [Router] needs from the world.
type Config struct {
	// Model is what the user wants: the name of a model, or one that leaves open
	// which it is.
	Model string

	Access  model.Access
	Presets *preset.Table
	Health  *Health

	// Asker asks the model that classifies prompts; nil asks none.
	Asker *oneshot.Asker

	// Action is what happens when a model can't answer, and Approver is asked about it,
	// if it is not nil.
	Action   Action
	Approver engine.Approver

	// Mode returns what the conversation is at. Nil is nothing special.
	Mode func() Mode
}

// A Mode is what matters of the approval mode.
type Mode struct {
	Planning bool // the model makes a plan
	Planned  bool // a plan was approved in this session
	Yolo     bool
}

// A Conversation is what models are chosen for: an [engine.Engine].
type Conversation interface {
	Model() string
	SetModel(name string)
	History() []*genai.Content
}

// A Router decides for one conversation. It must not be used concurrently.
type Router struct {
	cfg    Config
	wanted string
	talk   Conversation // nil before the first prompt
	last   string       // the model that was told last
	failed int          // how often the classifier has failed since it last answered
}

// mostFailures is how often the classifier may fail in a row before prompts no longer wait
// for it.
const mostFailures = 2

// New returns a Router.
func New(cfg Config) *Router {
	if cfg.Mode == nil {
		cfg.Mode = func() Mode { return Mode{} }
	}
	cfg.Health = cmp.Or(cfg.Health, &Health{})
	return &Router{cfg: cfg, wanted: cfg.Model}
}

// Wanted returns what the user wants: the name of a model, or one such as auto.
func (r *Router) Wanted() string { return cmp.Or(r.wanted, model.Default) }

// Choose changes what the user wants. The model is tried again, whatever is known of it.
func (r *Router) Choose(name string) {
	r.wanted, r.last = name, ""
	r.cfg.Health.Forget(r.Model())
}

// Model returns the model that answers where nothing speaks for another one.
func (r *Router) Model() string {
	if r.cfg.Presets.Custom(r.wanted) {
		return r.wanted
	}
	return r.cfg.Access.Resolve(r.wanted)
}

// Shown returns what users are told is asked: the model, or auto where it is decided for
// each prompt.
func (r *Router) Shown() string {
	if _, auto := r.cfg.Access.Auto(r.wanted); auto && r.cfg.Asker != nil && !r.cfg.Presets.Custom(r.wanted) {
		return r.Wanted()
	}
	if r.talk != nil {
		return r.talk.Model()
	}
	return r.Model()
}

// A decision is which model answers.
type decision struct {
	model  string
	reason string // in a few words, "" if it goes without saying
	quiet  bool   // it is not told
}

// Run returns a Run that asks the model that is decided on for each prompt.
func (r *Router) Run(talk Conversation, run engine.Run) engine.Run {
	return func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			r.talk = talk
			left := false
			tell := func(ev engine.Event) { left = left || !yield(ev, nil) }
			mode := r.cfg.Mode()
			r.take(r.decide(ctx, mode, parts, tell), tell)
			if left {
				return
			}
			for ev, err := range run(ctx, parts...) {
				if !yield(ev, err) {
					return
				}
				if _, over := ev.(engine.Finished); !over || r.cfg.Mode() == mode {
					continue
				}
				mode = r.cfg.Mode()
				if r.take(r.decide(ctx, mode, nil, tell), tell); left {
					return
				}
			}
		}
	}
}

// take has the model of a decision asked. A change is told; the first choice is one if it
// is not what the user may expect. How hard a prompt is, only users are told that watch.
func (r *Router) take(d decision, tell func(engine.Event)) {
	if d.model == "" {
		return
	}
	r.talk.SetModel(d.model)
	if was := cmp.Or(r.last, r.Model()); was != d.model && !d.quiet {
		why := ""
		if d.reason != "" {
			why = ": " + d.reason
		}
		tell(engine.Notice{Text: d.model + " answers" + why, Info: true})
	}
	r.last = d.model
}

// decide goes through the strategies. Without parts, the prompt goes on, and what was
// decided holds unless the mode has it otherwise.
func (r *Router) decide(ctx context.Context, mode Mode, parts []*genai.Part, tell func(engine.Event)) decision {
	large := r.Model()
	small, auto := r.cfg.Access.Auto(r.wanted)
	if d, down := r.instead(large); down {
		return d
	}
	if !auto || r.cfg.Presets.Custom(r.wanted) {
		return decision{model: large}
	}
	d, decided := r.byMode(mode, large, small)
	if !decided {
		if parts == nil {
			return decision{}
		}
		d = r.byClass(ctx, parts, large, small, tell)
	}
	if r.cfg.Health.Down(d.model) {
		return decision{model: large}
	}
	return d
}

// instead returns what answers in the place of a model that can't.
func (r *Router) instead(name string) (decision, bool) {
	id := r.cfg.Presets.Chat(name, false).Model
	if r.cfg.Action == Off || !r.cfg.Health.Down(id) {
		return decision{}, false
	}
	rest, _ := r.after(id)
	if len(rest) == 0 {
		return decision{}, false
	}
	return decision{model: rest[0], reason: id + " can't at the moment"}, true
}

// byMode has the larger model plan and the smaller one carry out what was planned.
func (r *Router) byMode(mode Mode, large, small string) (decision, bool) {
	switch {
	case mode.Planning:
		return decision{model: large, reason: "it makes plans"}, true
	case mode.Planned:
		return decision{model: small, reason: "it carries out plans"}, true
	}
	return decision{}, false
}

// byClass decides by how hard the prompt is. Who can't say has the larger model answer.
func (r *Router) byClass(ctx context.Context, parts []*genai.Part, large, small string, tell func(engine.Event)) decision {
	if r.cfg.Asker == nil || r.failed >= mostFailures || slices.ContainsFunc(parts, func(p *genai.Part) bool { return p.FunctionResponse != nil }) {
		return decision{model: large}
	}
	d := decision{model: large}
	hard, reason, err := r.hard(ctx, parts, engine.Gemini3(large), tell)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if r.failed++; r.failed == mostFailures && r.cfg.Approver != nil {
			tell(engine.Notice{Text: large + " answers from now on: what chooses between models has failed twice", Info: true})
		}
	case !hard:
		r.failed, d = 0, decision{model: small, reason: reason}
	default:
		r.failed, d.reason = 0, reason
	}
	d.quiet = r.cfg.Approver == nil
	return d
}

// hard reports whether a prompt is one for the larger model.
func (r *Router) hard(ctx context.Context, parts []*genai.Part, scored bool, tell func(engine.Event)) (hard bool, reason string, err error) {
	q := oneshot.Question{Purpose: "classifier", System: scoreDoc, Tell: func(ev engine.Event) {
		if _, counts := ev.(engine.Usage); counts { // what fails costs the user nothing but the choice
			tell(ev)
		}
	}}
	if !scored {
		q.System, q.Contents = choiceDoc, excerpt(r.talk.History(), 20, 4, parts)
		var c choice
		err = r.cfg.Asker.JSON(ctx, q, choiceSchema, &c)
		return c.Model == "pro", "", err
	}
	q.Contents = excerpt(r.talk.History(), 8, 8, parts)
	var s score
	err = r.cfg.Asker.JSON(ctx, q, scoreSchema, &s)
	return s.Score >= threshold, fmt.Sprintf("complexity %d of 100", s.Score), err
}
