// Package provider sends each request to the provider in the model's name: ollama/qwen3 is
// Ollama's model, and a name without a provider is Google's. Begin with a [Set].
//
// # No fallback to other providers
//
// A request for a model of a provider is sent only to this provider. A generator is created, and
// its key read, when the first request needs it.
package provider

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net"
	"net/url"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/anthropic"
	"gemline/engine/model/catalog"
	"gemline/engine/model/ollama"
	"gemline/engine/model/openai"
	"gemline/engine/model/preset"
	"gemline/engine/text"
)

// A Set has the available providers. It must not be copied.
type Set struct {
	Providers model.Providers

	// Common has the common options of all generators, without key and address.
	Common model.Options

	// Presets are the settings of conversations.
	Presets *preset.Table

	// Getenv returns a variable, and FindKey the stored key for a provider; nil finds none.
	Getenv  func(string) string
	FindKey func(ctx context.Context, provider string) (string, error)

	// Paths says that names with a slash may be paths of Google's models, as in Vertex AI.
	Paths bool

	mu    sync.Mutex
	open  map[string]opened
	holds map[string]int // context sizes from servers, by the names of models
}

// An opened is the generator of a provider, with its wrapper.
type opened struct {
	generator generator
	healed    engine.Generator // asks again without refused thoughts
}

// A generator can be closed.
type generator interface {
	engine.Generator
	io.Closer
	List(context.Context) ([]model.ModelInfo, error)
}

// Generator returns a Generator that asks google for all models without a provider.
func (s *Set) Generator(google engine.Generator) engine.Generator { return &asking{s, google} }

// Close drops all connections.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		o.generator.Close()
	}
	return nil
}

// of returns the generator of a provider.
func (s *Set) of(name string) (opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.open[name]; ok {
		return o, nil
	}
	p, err := s.Providers.Named(name)
	if err != nil {
		return opened{}, err
	}
	g, err := Open(p, s.Options(p))
	if err != nil {
		return opened{}, err
	}
	if s.open == nil {
		s.open = map[string]opened{}
	}
	s.open[name] = opened{g, model.Heal(g)}
	return s.open[name], nil
}

// Options returns the options for the generator of p.
func (s *Set) Options(p model.Provider) model.Options {
	o := p.Options(s.Common, s.Getenv)
	if o.APIKey == "" && p.KeyVariable != "" && s.FindKey != nil {
		o.FindKey = func(ctx context.Context) (string, error) { return s.FindKey(ctx, p.Name) }
	}
	return o
}

// Patience is the timeout for the list of a server's models: small machines are slow while they
// load a model.
const Patience = 30 * time.Second

// List returns the models of a provider's server.
func (s *Set) List(ctx context.Context, name string) ([]model.ModelInfo, error) {
	o, err := s.of(name)
	if err != nil {
		return nil, err
	}
	return o.generator.List(ctx)
}

// Local returns the providers whose server listens on this machine, at a loopback address. It
// contacts no other address.
func (s *Set) Local(ctx context.Context) (names []string) {
	ctx, stop := context.WithTimeout(ctx, Patience)
	defer stop()
	for _, p := range s.Providers {
		u, err := url.Parse(p.BaseURL)
		if err != nil || p.KeyVariable != "" || !text.Loopback(u.Hostname()) {
			continue
		}
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
		if err == nil {
			c.Close()
			names = append(names, p.Name)
		}
	}
	return names
}

// Open returns the generator of p.
func Open(p model.Provider, o model.Options) (generator, error) {
	switch p.Protocol {
	case model.OpenAI:
		return openai.New(p, o)
	case model.Anthropic:
		return anthropic.New(p, o)
	case model.Ollama:
		return ollama.New(p, o)
	}
	return nil, &model.Error{Kind: model.Config, Final: true, Message: "the provider " + p.Name + " is asked by a name without it"}
}

// An asking is a Generator that asks each model's provider.
type asking struct {
	set    *Set
	google engine.Generator
}

// find returns the Generator for req, and the request to make.
func (a *asking) find(req *engine.Request) (engine.Generator, *engine.Request, error) {
	name, config := req.Model, req.Config
	if !req.OneShot {
		p := a.set.Presets.Chat(req.Model, req.Again)
		name, config = p.Model, model.Merge(p.Config, req.Config)
	}
	provider, rest := catalog.Provider(name)
	if provider == "" {
		return a.google, req, nil
	}
	o, err := a.set.of(provider)
	if _, known := a.set.Providers.Named(provider); known != nil && a.set.Paths {
		return a.google, req, nil
	}
	asked := *req
	asked.Model, asked.Config = rest, config
	return o.healed, &asked, err
}

// Generate implements [engine.Generator].
func (a *asking) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		g, asked, err := a.find(req)
		if err != nil {
			yield(nil, err)
			return
		}
		if g != a.google && !req.OneShot {
			a.set.fetchContext(ctx, req, asked)
		}
		g.Generate(ctx, asked)(yield)
	}
}

// Count implements [engine.Generator].
func (a *asking) Count(ctx context.Context, req *engine.Request) (int, error) {
	g, asked, err := a.find(req)
	if err != nil {
		return 0, err
	}
	return g.Count(ctx, asked)
}
