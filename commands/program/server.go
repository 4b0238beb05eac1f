package program

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log"
	"log/slog"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gemline/commands/cli"
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
	"gemline/engine/model/provider"
	"gemline/engine/model/route"
	"gemline/repl/input"
	"gemline/settings/flags"
)

// A server is what answers requests.
type server struct {
	opts      *project.Options
	notify    func(string) // tells what is odd but no error
	closers   []func()
	budget    *limit.Budget // of all conversations together
	setup     model.Setup
	generator engine.Generator
	access    preset.Access // what the credential can use
	method    string        // how the user signs in, empty if nobody does
	unpaid    bool          // no key is known that pays for requests
	heard     atomic.Int64  // when something last came from the model's server
	presets   *preset.Table
	providers *provider.Set
	health    route.Health // of the models
	cost      func(engine.Usage) (dollars float64, unpriced string, priced bool)
}

// close ends what was begun.
func (s *server) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}

// resolve returns the name of the model that is asked, if wanted is what the user
// wants.
func (s *server) resolve(wanted ...string) string {
	return s.presets.Resolve(cmp.Or(wanted...))
}

// models asks the server of a provider, "" is Google's, which models it has.
func (s *server) models(ctx context.Context, provider string) (names []string, err error) {
	var listed []model.Listed
	if provider != "" {
		listed, err = s.providers.List(ctx, provider)
	} else if g, gerr := model.NewGenai(s.setup.API); gerr != nil {
		return nil, gerr
	} else {
		defer g.Close()
		listed, err = g.List(ctx)
	}
	for _, m := range listed {
		names = append(names, m.Name)
	}
	return names, err
}

// service returns what works on many requests by itself.
func (s *server) service() (*model.Genai, error) {
	if api := s.setup.API; s.setup.Fake != "" || api.Google.Vertex || api.Google.CodeAssist {
		return nil, &flags.UsageError{Message: "--batch-api works with the Gemini API only, not with Vertex AI, Code Assist or a recording"}
	}
	return model.NewGenai(s.setup.API)
}

// newBudget makes the budget. What tokens cost is read when somebody counts money.
func (s *server) newBudget(resume func() string) error {
	var told sync.Once
	load := sync.OnceValues(func() (limit.Prices,
		error) {
		return limit.LoadPrices(s.opts.Paths.User("prices.toml"), s.opts.Env.Process.Today)
	})
	prices := func() limit.Prices {
		ps, err := load()
		if err != nil {
			told.Do(func() { s.notify(err.Error()) })
		}
		if s.access == preset.ByAssist { // which is not paid by tokens
			return nil
		}
		return ps
	}
	s.cost = func(u engine.Usage) (float64, string, bool) {
		usd, date, known := prices().Cost(u)
		return usd, date, known || s.free(u.Asked)
	}
	cfg := limit.Config{Tokens: s.opts.Flags.MaxTokens, Cost: s.opts.Flags.MaxCost, Calls: s.opts.Flags.MaxToolCalls,
		Price: func(name string) (limit.Price, bool) {
			price, ok := prices()[name]
			return price, ok || s.access == preset.ByAssist || s.free(name)
		},
		Resume: resume}
	if s.opts.Flags.Batch != "" { // time and calls are each item's own
		cfg.Calls, cfg.Resume = 0, nil
	}
	if s.opts.User.SeveralAnswers() {
		cfg.Time = time.Duration(s.opts.Flags.Timeout)
	}
	s.budget = limit.New(cfg)
	if cfg.Cost > 0 || s.opts.Flags.JSONFd != nil || s.opts.Flags.Batch != "" ||
		cmp.Or(s.opts.Flags.Format(), s.opts.Settings.Format) != "text" {
		_, err := load()
		return err
	}
	return nil
}

// waiting is how long one request may be put off by a busy server in all.
const waiting = 10 * time.Minute

// retries says how often, and for how long, a request is tried: at most so often, if that
// is not 0.
func (s *server) retries(most int) model.RetryOptions {
	o := model.RetryOptions{Attempts: s.opts.Settings.MaxAttempts, Budget: waiting}
	if most > 0 && (o.Attempts <= 0 || most < o.Attempts) {
		o.Attempts = most
	}
	if d := time.Duration(s.opts.Flags.Timeout); d > 0 {
		o.Budget = min(waiting, d)
	}
	return o
}

// lastHeard returns when something last came from the model's server.
func (s *server) lastHeard() time.Time { return time.Unix(0, s.heard.Load()) }

// open makes the generator of single attempts: the API or a recording, and what
// wraps it.
func (s *server) open() error {
	setup := model.Setup{Fake: s.opts.Flags.FakeResponses, Strict: true, Record: s.opts.Flags.RecordResponses,
		Meter: s.budget.Generator}
	if s.opts.Flags.FakeNonStrict != "" {
		setup.Fake, setup.Strict = s.opts.Flags.FakeNonStrict, false
	}
	if setup.Fake == "" {
		account, err := findAccount(s.opts, s.notify)
		if err != nil && !s.asksOthers() {
			return err
		}
		setup.Closed = err
		account.API.Heard = func() { s.heard.Store(time.Now().UnixNano()) }
		setup.API, s.access, s.method, s.unpaid = account.API, account.access, account.method, account.unpaid
	}
	if s.opts.Flags.Debug {
		l, err := s.debugLog()
		if err != nil {
			return err
		}
		setup.Logger, setup.API.Logger = l, l
	}
	if err := s.newPresets(); err != nil {
		return err
	}
	setup.API.Google.Presets = s.presets
	s.newProviders(&setup)
	s.setup = setup
	g, stop, err := model.Open(setup)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return &input.Error{Message: err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	s.generator, s.closers = g, append(s.closers, stop)
	return nil
}

// asksOthers reports whether the user wants a model of another provider than Google. An alias
// may stand for it.
func (s *server) asksOthers() bool {
	presets := s.presets
	if presets == nil {
		presets, _ = s.readPresets() // what is wrong with it, newPresets says
	}
	provider, _ := catalog.Provider(presets.Chat(s.opts.Settings.Model, false).Model)
	return provider != ""
}

// free reports whether a model of another provider runs on this machine, where it costs nothing.
func (s *server) free(name string) bool {
	provider, own := catalog.Provider(name)
	if provider == "" || s.providers == nil {
		return false
	}
	found, err := s.providers.Providers.Named(provider)
	return err == nil && found.Free(own)
}

// newProviders has models of other providers be asked, too. Where the user wants such a one,
// it does not matter whether Google's can be asked.
func (s *server) newProviders(setup *model.Setup) {
	set := findProviders(s.opts)
	s.providers, set.Presets, set.Paths = set, s.presets, setup.API.Google.Vertex
	s.presets.Context = set.Context
	set.Common.Idle, set.Common.Heard, set.Common.Logger = setup.API.Idle, setup.API.Heard, setup.API.Logger
	setup.Providers = s.providers.Generator
	s.unpaid = s.unpaid && !s.asksOthers()
	s.closers = append(s.closers, func() { s.providers.Close() })
}

// newPresets reads the models, and the parameters of their requests.
func (s *server) newPresets() (err error) {
	s.presets, err = s.readPresets()
	return err
}

func (s *server) readPresets() (*preset.Table, error) {
	configs, _ := s.opts.Settings.Merged["modelConfigs"].(map[string]any)
	presets, err := preset.New(s.access, configs)
	if err != nil {
		return nil, err
	}
	presets.Today, presets.Roles = s.opts.Env.Process.Today, s.opts.Settings.Roles()
	if large, small := s.opts.Settings.Auto(); large != "" && small != "" {
		presets.Between(large, small)
		presets.Roles["routing"] = cmp.Or(presets.Roles["routing"], presets.Roles["fast"], small)
	}
	return presets, nil
}

// An account is what pays for requests.
type account struct {
	API    model.Options
	access preset.Access // which models it can use
	method string
	unpaid bool // no key is known
}

// findAccount finds out what pays for requests. What is kept somewhere is looked
// for by the first request.
func findAccount(o *project.Options, notify func(string)) (a account, err error) {
	c, err := o.Folder().Credential(o.Settings, notify)
	if err != nil {
		return a, err
	}
	if c.Instead != "" && o.Paths.Once("login-instead-told") {
		notify(c.Instead)
	}
	idle := time.Duration(min(o.Settings.Idle, math.MaxInt32)) * time.Second
	switch {
	case !o.Settings.IsSet("model.streamIdleTimeoutSeconds"):
		idle = 0 // as long as the model may think
	case idle <= 0:
		idle = -1
	}
	a.access, a.method = cli.Access(c.Method, c.Location.Value), string(c.Method)
	a.API = model.Options{Idle: idle,
		APIKey: c.Key.Value, Header: c.Header, Keyless: c.Method == auth.Gateway || c.External,
		Google: model.Google{Bearer: c.Bearer, Vertex: c.Method == auth.Vertex, CodeAssist: c.Method == auth.Compute,
			Project: c.Project.Value, Location: c.Location.Value, Quota: c.Quota, APIVersion: c.APIVersion.Value},
		Secrets: o.Secrets, BaseURL: c.BaseURL.Value, Version: o.Env.Process.Version,
		Network: o.Network()}
	if c.Account != nil {
		a.API.Google.Account, a.API.Google.Metadata = c.Account.Read, c.Account.Host
	}
	if c.Stored {
		store := auth.NewStore(o.Paths.User(), o.Env.Getenv)
		a.unpaid = !store.May(c)
		a.API.FindKey = func(ctx context.Context) (string, error) {
			key, _, err := store.Find(ctx, c)
			return key, withOffer(ctx, o, err)
		}
	}
	return a, nil
}

// debugLog returns the log of -d, which libraries write, too.
func (s *server) debugLog() (*slog.Logger, error) {
	w := s.opts.Env.Process.Stderr
	if name := s.opts.Env.Process.Getenv("GEMINI_DEBUG_LOG_FILE"); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, func() { f.Close() })
		w = f
	}
	log.SetOutput(redactingWriter{w, s.opts.Secrets})
	s.opts.Env.Process.Stray(w)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug,
		ReplaceAttr: redactedAttr(s.opts.Secrets)})), nil
}
