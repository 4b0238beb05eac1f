package route

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
	"gemline/engine/text"
)

// An Action is what happens when a model can't answer and another one could.
type Action string

// The actions.
const (
	Ask    Action = "ask"    // the user is asked, where somebody can be
	Switch Action = "switch" // the other one answers
	Off    Action = "off"    // the prompt has failed
)

// tried is how often a model is asked that another one can stand in for.
const tried = 3

// A failure is why a model did not answer, as far as that matters for what to do.
type failure int

const (
	other     failure = iota // another model would not help
	quota                    // for good
	capacity                 // for now
	missing                  // there is no such model
	transient                // it was tried often enough
)

// String returns the failure as the settings call it.
func (f failure) String() string {
	return [...]string{other: "unknown", quota: "terminal", capacity: "terminal",
		missing: "not_found", transient: "transient"}[f]
}

// failureOf returns the class of an error.
func failureOf(err error) failure {
	var e *model.Error
	switch {
	case !errors.As(err, &e):
		return other
	case e.Kind == model.NotFound:
		return missing
	case e.Kind == model.Quota && e.Final:
		return quota
	case e.Kind == model.Unavailable && (e.Code == model.CodeCapacity || e.Final && e.RetryAfter > 0):
		return capacity
	case e.Kind == model.Quota, e.Kind == model.Unavailable && e.HTTP != 0 && !e.Final:
		return transient
	}
	return other
}

// Generator returns a Generator that asks the next model of a chain where one can't
// answer. Retried returns a Generator that makes so many attempts of a request, or, for
// 0, as many as usual.
func (r *Router) Generator(retried func(attempts int) engine.Generator) engine.Generator {
	return fallback{retried(0), r, retried}
}

type fallback struct {
	engine.Generator
	r       *Router
	retried func(attempts int) engine.Generator
}

// Generate implements [engine.Generator].
func (f fallback) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		asked := *req
		name := f.r.cfg.Presets.Chat(req.Model, false).Model
		a := f.r.first(name)
		for {
			asked.Config = f.r.thinking(req.Config, asked.Model)
			next, heard, err := f.attempt(ctx, &asked, a, yield)
			if next == nil {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if req.Notify != nil {
				req.Notify(engine.Retry{Attempt: 1, MaxAttempts: 2, Err: because(a.Model, err), Restart: heard, Model: next.Model,
					Price: f.r.cfg.Presets.PriceNote(next.Model, a.Model)})
			}
			asked.Model, a = next.Model, *next
		}
	}
}

// An attempt is one model's.
type attempt struct {
	preset.ChainModel
	substitutes []preset.ChainModel // the models that can replace it
	before      []string            // the models that were asked before it, which are not asked again
}

// attempt asks one model. It returns the next attempt, nil if none is left; the caller then
// yields the error.
func (f fallback) attempt(ctx context.Context, req *engine.Request, a attempt,
	yield func(*genai.GenerateContentResponse, error) bool) (next *attempt, heard bool, err error) {
	health, g := f.r.cfg.Health, f.Generator
	switch {
	case len(a.substitutes) > 0 && health.failing(a.Model):
		g = f.retried(1)
	case a.Attempts > 0:
		g = f.retried(a.Attempts)
	case len(a.substitutes) > 0: // else it is the last resort
		g = f.retried(tried)
	}
	for chunk, gerr := range g.Generate(ctx, req) {
		if err = gerr; err != nil {
			break
		}
		heard = true
		if !yield(chunk, nil) {
			return nil, true, nil
		}
	}
	why := failureOf(err)
	if why == missing && ctx.Err() == nil {
		a, err = f.r.living(ctx, a, err)
	}
	switch {
	case err == nil:
		health.recovered(a.Model)
	case why == other && !a.Covers() || ctx.Err() != nil || f.r.cfg.Action == Off:
	case len(a.substitutes) == 0:
		health.mark(a.Model, a.made(why)) // for prompts that leave the choice open
	default:
		goOn, always, aerr := f.r.may(ctx, a, err, why)
		if aerr != nil {
			return nil, heard, aerr
		}
		if goOn {
			f.r.took(a, why, always)
			return &attempt{a.substitutes[0], a.substitutes[1:], append(a.before, f.r.cfg.Presets.Chat(a.Model, false).Model)}, heard, err
		}
	}
	return nil, heard, err
}

// living returns the attempt of a model that the server does not have, with the stand-ins that
// the server has, the nearest first. If the name is unknown, the error names the model with a
// similar spelling.
func (r *Router) living(ctx context.Context, a attempt, err error) (attempt, error) {
	if provider, _ := catalog.Provider(r.cfg.Presets.Chat(a.Model, false).Model); provider != "" { // whose models Google does not list
		return a, err
	}
	there := r.cfg.Health.models(ctx, r.cfg.List)
	var rest []preset.ChainModel
	near := r.cfg.Presets.Nearest(a.Model, there)
	if slices.Contains(a.before, near) {
		near = ""
	}
	if near != "" && (there != nil || len(a.substitutes) == 0) {
		rest = []preset.ChainModel{{Model: near}}
	}
	for _, s := range a.substitutes {
		id := r.cfg.Presets.Chat(s.Model, false).Model
		if slices.Contains(a.before, id) {
			continue
		}
		if there == nil || id != near && slices.Contains(there, strings.TrimPrefix(id, "models/")) {
			rest = append(rest, s)
		}
	}
	if a.substitutes = rest; len(rest) > 0 && r.cfg.Action != Off {
		return a, err
	}
	others := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return name == a.Model }) // it may be closed to the user
	if near = text.Nearest(a.Model, others); len(rest) > 0 {
		near = rest[0].Model
	}
	var e *model.Error
	if near == "" || !errors.As(err, &e) {
		return a, err
	}
	named := *e
	named.Advice = "there is " + near + "; choose it with -m or /model"
	return a, &named
}

// thinking returns what a request to a model is made with, so that it thinks as much as the
// user wants, if the request does not say how much.
func (r *Router) thinking(c *genai.GenerateContentConfig, name string) *genai.GenerateContentConfig {
	if r.cfg.Thinking == "" || c != nil && c.ThinkingConfig != nil {
		return c
	}
	config := genai.GenerateContentConfig{}
	if c != nil {
		config = *c
	}
	config.ThinkingConfig = r.cfg.Presets.Thinking(name, r.cfg.Thinking)
	return &config
}

// first returns the attempt of a model, with the models that can answer in its place.
func (r *Router) first(name string) attempt {
	chain := r.cfg.Presets.Chain(name)
	a := attempt{ChainModel: chain[0]}
	if a.Model = name; r.cfg.Action == Off {
		return attempt{ChainModel: preset.ChainModel{Model: name}}
	}
	if next := r.cfg.Health.stands(name); next != "" {
		chain = slices.Insert(slices.Clone(chain), 1, preset.ChainModel{Model: next})
	}
	var last []preset.ChainModel
	for _, s := range chain[1:] {
		switch id := r.cfg.Presets.Chat(s.Model, false).Model; {
		case id == name:
		case !r.cfg.Health.Down(id):
			a.substitutes = append(a.substitutes, s)
		case s.Last && last == nil:
			last = []preset.ChainModel{s}
		}
	}
	if a.substitutes == nil {
		a.substitutes = last
	}
	return a
}

// made returns what a failure counts as for a model.
func (a attempt) made(why failure) failure {
	switch sticky := a.State(why.String()) == preset.Sticky; {
	case sticky:
		return transient
	case why == transient:
		return quota
	}
	return why
}

// may finds out whether the next model may answer, and if so, whether it may from now on.
func (r *Router) may(ctx context.Context, a attempt, err error, why failure) (goOn, always bool, aerr error) {
	if r.cfg.Action != Ask || r.cfg.Approver == nil || a.Silent(why.String()) || r.cfg.Mode().Planning {
		return true, true, nil
	}
	const name = "model"
	next := a.substitutes[0].Model
	answer, aerr := r.cfg.Approver.Approve(ctx, engine.Proposal{ID: name,
		Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}},
		Args: map[string]any{"instead_of": a.Model, "asked": next},
		Intent: engine.Intent{Title: fmt.Sprintf("%v; let %s answer?", because(a.Model, err), next),
			Yes: next + " answers this prompt", No: "the prompt ends with the error",
			Grants: []engine.Grant{{Label: next + " for the rest of the session", Tool: name}}}})
	allowed, ok := answer.(engine.Allowed)
	return ok && aerr == nil, ok && allowed.Scope != engine.Once, aerr
}

// because returns an error that says of a model why it does not answer.
func because(name string, err error) error {
	if strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// took notes that the next model answers in the place of one: in this prompt, and if it
// may always, as long as the first one can't.
func (r *Router) took(a attempt, why failure, always bool) {
	if always {
		r.cfg.Health.mark(a.Model, a.made(why))
	}
	if always && why == missing {
		r.cfg.Health.stand(a.Model, a.substitutes[0].Model)
	}
	next := a.substitutes[0].Model
	if r.last.Store(next); r.engine != nil {
		r.engine.SetModel(next)
	}
}
