package telemetry

import (
	"log/slog"
	"slices"
	"sync"
)

// Config is what a Provider needs from the world.
type Config struct {
	Targets  []Target
	Resource []slog.Attr         // attributes of all records: the program and the machine
	Version  string              // of the program
	Redact   func(string) string // removes secrets
}

// A Provider exports the records of sessions to its targets. A nil Provider has none.
type Provider struct {
	cfg       Config
	pipelines []*pipeline

	mu   sync.Mutex
	live []*Recorder
}

// New returns a Provider, nil without targets. It must be closed.
func New(cfg Config) *Provider {
	if len(cfg.Targets) == 0 {
		return nil
	}
	p := &Provider{cfg: cfg}
	for _, t := range cfg.Targets {
		p.pipelines = append(p.pipelines, startPipeline(p, t))
	}
	return p
}

// Begin returns a Recorder for a new session.
func (p *Provider) Begin(s Session) *Recorder {
	if p == nil {
		return nil
	}
	r := &Recorder{session: s, provider: p}
	r.resource = append(slices.Clone(p.cfg.Resource), slog.String("session.id", s.ID))
	r.common = append([]slog.Attr{slog.String("session.id", s.ID)}, s.Attrs...)
	for _, l := range p.pipelines {
		r.prompts = r.prompts || l.Prompts
		r.large = r.large || l.Prompts && l.Traces
	}
	p.mu.Lock()
	p.live = append(p.live, r)
	p.mu.Unlock()
	r.Measure(Sessions, 1)
	for _, l := range p.pipelines {
		l.measure()
	}
	return r
}

// Close exports the rest to the targets, with a short timeout. It returns unreported failures.
func (p *Provider) Close() []string {
	if p == nil {
		return nil
	}
	var ending sync.WaitGroup
	for _, l := range p.pipelines {
		ending.Go(l.close)
	}
	ending.Wait()
	return p.troubles()
}

// troubles returns the unreported problems.
func (p *Provider) troubles() (all []string) {
	for _, l := range p.pipelines {
		if said := l.trouble.Swap(nil); said != nil {
			all = append(all, *said)
		}
	}
	return all
}

// recorders returns the Recorders of the sessions that have not ended.
func (p *Provider) recorders() []*Recorder {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.live)
}

// forget drops the Recorder of a session that has ended.
func (p *Provider) forget(r *Recorder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = slices.DeleteFunc(p.live, func(l *Recorder) bool { return l == r })
}
