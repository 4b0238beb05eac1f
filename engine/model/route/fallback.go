package route

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/preset"
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
	if r.cfg.Action == Off {
		return retried(0)
	}
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
			next, heard, err := f.attempt(ctx, &asked, a, yield)
			if next == "" {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if req.Notify != nil {
				req.Notify(engine.Retry{Attempt: 1, Of: 2, Err: because(a.Model, err), Restart: heard, Model: next})
			}
			asked.Model, a = next, attempt{a.rest[0], a.rest[1:]}
		}
	}
}

// An attempt is one model's.
type attempt struct {
	preset.Stand
	rest []preset.Stand // the models that can stand in for it
}

// attempt asks one model. It returns the model to ask instead, "" if there is none; the
// error is then left to be yielded.
func (f fallback) attempt(ctx context.Context, req *engine.Request, a attempt,
	yield func(*genai.GenerateContentResponse, error) bool) (next string, heard bool, err error) {
	health, g := f.r.cfg.Health, f.Generator
	switch {
	case len(a.rest) > 0 && health.failing(a.Model):
		g = f.retried(1)
	case a.Attempts > 0:
		g = f.retried(a.Attempts)
	case len(a.rest) > 0: // else it is the last resort
		g = f.retried(tried)
	}
	for chunk, gerr := range g.Generate(ctx, req) {
		if err = gerr; err != nil {
			break
		}
		heard = true
		if !yield(chunk, nil) {
			return "", true, nil
		}
	}
	why := failureOf(err)
	switch {
	case err == nil:
		health.recovered(a.Model)
	case why == other && !a.Covers() || ctx.Err() != nil:
	case len(a.rest) == 0:
		health.mark(a.Model, a.made(why)) // for prompts that leave the choice open
	default:
		goOn, always, aerr := f.r.may(ctx, a, err, why)
		if aerr != nil {
			return "", heard, aerr
		}
		if goOn {
			f.r.took(a, why, always)
			return a.rest[0].Model, heard, err
		}
	}
	return "", heard, err
}

// first returns the attempt of a model, and those that can answer in its place.
func (r *Router) first(name string) attempt {
	chain := r.cfg.Presets.Chain(name)
	a := attempt{Stand: chain[0]}
	a.Model = name
	var last []preset.Stand
	for _, s := range chain[1:] {
		switch id := r.cfg.Presets.Chat(s.Model, false).Model; {
		case id == name:
		case !r.cfg.Health.Down(id):
			a.rest = append(a.rest, s)
		case s.Last && last == nil:
			last = []preset.Stand{s}
		}
	}
	if a.rest == nil {
		a.rest = last
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
	next := a.rest[0].Model
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
	if r.last = a.rest[0].Model; r.talk != nil {
		r.talk.SetModel(r.last)
	}
}
