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

// Context returns the size of a model's context in tokens: from its server, else from the table
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

// fetchContext asks the server once for the context size of the model of asked, if only the
// server knows it. The user is told if the size is unknown, or too small for the request.
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
	case req.Notify == nil, p.Protocol == model.Ollama: // whose generator reports it itself
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

// ask asks a server for the context size of a model in tokens; 0 if unknown.
func (s *Set) ask(ctx context.Context, g generator, name string) int {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if o, ok := g.(*ollama.Generator); ok { // which loads a model with the requested size
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
