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
	Ask    Action = "ask"    // the user is asked, if present
	Switch Action = "switch" // the other model answers
	Off    Action = "off"    // the prompt fails
)

// tried is the number of attempts of a model that another model can replace.
const tried = 3

// A failure is the class of an error, by the possible reactions.
type failure int

const (
	other     failure = iota // another model would not help
	quota                    // permanent
	capacity                 // temporary
	missing                  // there is no such model
	transient                // all attempts failed
)

// String returns the failure's name in the settings.
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

// Generator returns a Generator that asks the next model of a chain if a model can't answer.
// Retried returns a Generator with the given number of attempts per request; 0 is the usual
// number.
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

// An attempt is a request to a model of a chain.
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
	case len(a.substitutes) > 0: // otherwise this is the last resort
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
		a, err = f.r.serverReplacements(ctx, a, err)
	}
	switch {
	case err == nil:
		health.recovered(a.Model)
	case why == other && !a.Covers() || ctx.Err() != nil || f.r.cfg.Action == Off:
	case len(a.substitutes) == 0:
		health.mark(a.Model, a.made(why)) // for prompts with automatic choice
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

// serverReplacements returns a with replacements for a model that the server lacks, limited to
// models that the server has, the nearest first. If the name is unknown, the error suggests a
// similar name.
func (r *Router) serverReplacements(ctx context.Context, a attempt, err error) (attempt, error) {
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
	others := slices.DeleteFunc(slices.Clone(there), func(name string) bool { return name == a.Model }) // the user may have no access to it
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

// thinking returns c with the user's level of thinking for a model, unless c already sets it.
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

// first returns the attempt of a model, with its replacements.
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

// made returns the state of a model after a failure.
func (a attempt) made(why failure) failure {
	switch sticky := a.State(why.String()) == preset.Sticky; {
	case sticky:
		return transient
	case why == transient:
		return quota
	}
	return why
}

// may decides whether the next model may answer, and whether this holds from now on.
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

// because returns an error with the reason why a model does not answer.
func because(name string, err error) error {
	if strings.Contains(err.Error(), name) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// took records that the next model replaces another: for this prompt or, if always is set, as
// long as the first model can't answer.
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
