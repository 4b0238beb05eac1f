package provider

import (
	"context"
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/ollama"
	"gemline/engine/text"
)

// Context returns how many tokens a model holds: by its server, else by the table
// of its provider, else 0.
func (s *Set) Context(name string) int {
	s.mu.Lock()
	n := s.holds[name]
	s.mu.Unlock()
	provider, own := catalog.Provider(name)
	if p, err := s.Providers.Named(provider); n == 0 && err == nil {
		n = p.ContextTokens(own)
	}
	return n
}

// fetchContext asks the server once how many tokens the model of asked holds, where only it knows.
// The user is told if that is unknown, or less than the request takes.
func (s *Set) fetchContext(ctx context.Context, req, asked *engine.Request) {
	provider, _ := catalog.Provider(s.Presets.Chat(req.Model, req.Again).Model)
	p, err := s.Providers.Named(provider)
	name := provider + "/" + asked.Model
	s.mu.Lock()
	_, known := s.holds[name]
	o := s.open[provider]
	s.mu.Unlock()
	if err != nil || known || p.ContextTokens(asked.Model) > 0 {
		return
	}
	n := s.ask(ctx, o.generator, asked.Model)
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	if s.holds == nil {
		s.holds = map[string]int{}
	}
	s.holds[name] = n
	s.mu.Unlock()
	need := requestTokens(asked)
	switch limit := s.Presets.TokenLimit(name); {
	case req.Notify == nil, p.Protocol == model.Ollama: // which says it itself
	case n == 0 && limit == catalog.UnknownContext:
		req.Notify(engine.Notice{Text: fmt.Sprintf("how much %s holds is not known: it counts as %s tokens, unless tokenLimit in modelConfigs.modelDefinitions says more",
			name, text.Number(limit))})
	case n > 0 && need > n:
		said := fmt.Sprintf("the request takes about %s tokens, and %s holds %s", text.Number(need), name, text.Number(n))
		if p.Longer != "" {
			said += "; " + p.Longer
		}
		req.Notify(engine.Notice{Text: said})
	}
}

// ask asks a server how many tokens a model holds; 0 if it does not say.
func (s *Set) ask(ctx context.Context, g generator, name string) int {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if o, ok := g.(*ollama.Generator); ok { // which loads a model with as much as is asked for
		return min(o.Context(ctx, name), catalog.UnknownContext)
	}
	listed, err := g.List(ctx)
	if err != nil {
		return 0
	}
	for _, m := range listed {
		if m.Name == name || len(listed) == 1 {
			return m.Input
		}
	}
	return 0
}

// requestTokens guesses how many tokens a request takes.
func requestTokens(req *engine.Request) int {
	n := engine.Estimate(req.Contents)
	if c := req.Config; c != nil {
		said, _ := text.JSON([]any{c.SystemInstruction, c.Tools}, "")
		n += len(said) / 4
	}
	return n
}
