// Package provider asks the provider that a model's name names: ollama/qwen3 is Ollama's, and a
// name without a provider Google's. Begin with a [Set].
//
// # Nothing goes elsewhere
//
// A request for a model of a provider goes to this provider or to nobody. A generator is made
// when the first request needs it; its key is looked for then.
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

// A Set has the providers that can be asked. It must not be copied.
type Set struct {
	Providers model.Providers

	// Common is what the generators of all have in common; it has no key and no address.
	Common model.Options

	// Presets say what conversations are asked with.
	Presets *preset.Table

	// Getenv returns a variable, and FindKey the key that is stored for a provider; nil finds
	// none.
	Getenv  func(string) string
	FindKey func(ctx context.Context, provider string) (string, error)

	// Paths says that names with a slash may be paths of Google's, as Vertex AI has them.
	Paths bool

	mu    sync.Mutex
	open  map[string]opened
	holds map[string]int // tokens, by the names of models whose servers were asked
}

// An opened is what asks a provider.
type opened struct {
	generator generator
	healed    engine.Generator // asks again without thoughts that are refused
}

// A generator can be closed.
type generator interface {
	engine.Generator
	io.Closer
	List(context.Context) ([]model.ModelInfo, error)
}

// Generator returns a Generator that asks google for models that are no other provider's.
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

// Options returns what the generator of p is made with.
func (s *Set) Options(p model.Provider) model.Options {
	o := p.Options(s.Common, s.Getenv)
	if o.APIKey == "" && p.KeyVariable != "" && s.FindKey != nil {
		o.FindKey = func(ctx context.Context) (string, error) { return s.FindKey(ctx, p.Name) }
	}
	return o
}

// Patience is how long a server has for the list of its models: small machines are slow while
// they load one.
const Patience = 30 * time.Second

// List returns the models that the server of a provider has.
func (s *Set) List(ctx context.Context, name string) ([]model.ModelInfo, error) {
	o, err := s.of(name)
	if err != nil {
		return nil, err
	}
	return o.generator.List(ctx)
}

// Local returns the providers whose server listens on this machine, at a loopback address.
// Nothing else is contacted.
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

// An asking is a Generator that asks the provider of a model.
type asking struct {
	set    *Set
	google engine.Generator
}

// find returns who is asked req, and what.
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
