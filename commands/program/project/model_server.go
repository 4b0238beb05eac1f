package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/limit"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
	"gemline/engine/model/provider"
	"gemline/engine/model/route"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/settings/flags"
)

// A ModelServer answers requests: the API of a model's provider, or a recording.
type ModelServer struct {
	options    *Options
	notify     func(string)  // prints a warning
	resume     func() string // returns the command that resumes the conversation
	atEnd      func(func())  // registers a function that closes something with the project
	Budget     *limit.Budget // of all conversations together
	Setup      model.Setup
	Generator  engine.Generator
	access     preset.Access // the models that the credential can use
	AuthMethod string        // how the user signs in, "" without a sign-in
	MissingKey bool          // no key was found that pays for requests
	heard      atomic.Int64  // the time of the last data from the model's server
	Presets    *preset.Table
	providers  *provider.Set
	Health     route.Health // of the models
	Cost       func(engine.Usage) (dollars float64, unpriced string, priced bool)
}

// Resolve returns the name of the model for the first of the wanted names that is not empty.
func (s *ModelServer) Resolve(wanted ...string) string {
	return s.Presets.Resolve(cmp.Or(wanted...))
}

// ListModels asks the server of a provider for the names of its models; "" is Google's.
func (s *ModelServer) ListModels(ctx context.Context, provider string) (names []string, err error) {
	var listed []model.ModelInfo
	if provider != "" {
		listed, err = s.providers.List(ctx, provider)
	} else if g, gerr := model.NewGenai(s.Setup.API); gerr != nil {
		return nil, gerr
	} else {
		defer g.Close()
		listed, err = g.List(ctx)
	}
	return lists.Map(listed, func(m model.ModelInfo) string { return m.Name }), err
}

// BatchAPI returns the client of Google's API for batch jobs. The caller closes it.
func (s *ModelServer) BatchAPI() (*model.Genai, error) {
	if api := s.Setup.API; s.Setup.Fake != "" || api.Google.Vertex || api.Google.CodeAssist {
		return nil, &flags.UsageError{Message: "--batch-api works with the Gemini API only, not with Vertex AI, Code Assist or a recording"}
	}
	return model.NewGenai(s.Setup.API)
}

// newBudget makes the budget that all conversations share. It reads prices at their first use.
func (s *ModelServer) newBudget() error {
	var told sync.Once
	load := sync.OnceValues(func() (limit.Prices, error) {
		return limit.LoadPrices(s.options.Paths.User("prices.toml"), s.options.Env.Process.Today)
	})
	prices := func() limit.Prices {
		ps, err := load()
		if err != nil {
			told.Do(func() { s.notify(err.Error()) })
		}
		if s.access == preset.ByAssist { // that account is not billed by tokens
			return nil
		}
		return ps
	}
	s.Cost = func(u engine.Usage) (float64, string, bool) {
		usd, date, known := prices().Cost(u)
		return usd, date, known || s.isFree(u.RequestedModel)
	}
	cfg := limit.Config{Tokens: s.options.Flags.MaxTokens, Cost: s.options.Flags.MaxCost, Calls: s.options.Flags.MaxToolCalls,
		Price: func(name string) (limit.Price, bool) {
			price, ok := prices()[name]
			return price, ok || s.access == preset.ByAssist || s.isFree(name)
		},
		Resume: s.resume}
	if s.options.Flags.Batch != "" { // each item has limits of time and calls
		cfg.Calls, cfg.Resume = 0, nil
	}
	if s.options.User.SeveralAnswers() {
		cfg.Time = time.Duration(s.options.Flags.Timeout)
	}
	s.Budget = limit.New(cfg)
	if cfg.Cost > 0 || s.options.Flags.JSONFd != nil || s.options.Flags.Batch != "" ||
		cmp.Or(s.options.Flags.Format(), s.options.Settings.Format) != "text" {
		_, err := load()
		return err
	}
	return nil
}

// waiting limits how long a busy server may delay one request in all.
const waiting = 10 * time.Minute

// RetryOptions returns how often, and for how long, a request is tried. Most is the largest number
// of attempts; 0 uses the settings.
func (s *ModelServer) RetryOptions(most int) model.RetryOptions {
	o := model.RetryOptions{Attempts: s.options.Settings.MaxAttempts, Budget: waiting}
	if most > 0 && (o.Attempts <= 0 || most < o.Attempts) {
		o.Attempts = most
	}
	if d := time.Duration(s.options.Flags.Timeout); d > 0 {
		o.Budget = min(waiting, d)
	}
	return o
}

// LastHeard returns the time of the last data from the model's server, 1970 if there was none.
func (s *ModelServer) LastHeard() time.Time { return time.Unix(0, s.heard.Load()) }

// open makes the generator for single attempts, which asks the API or a recording, and its
// wrappers.
func (s *ModelServer) open() error {
	setup := model.Setup{Fake: s.options.Flags.FakeResponses, Strict: true, Record: s.options.Flags.RecordResponses,
		Meter: s.Budget.Generator}
	flag := "--fake-responses"
	if s.options.Flags.FakeNonStrict != "" {
		flag, setup.Fake, setup.Strict = "--fake-responses-non-strict", s.options.Flags.FakeNonStrict, false
	}
	if setup.Fake == "" {
		a, err := findAccount(s.options, s.notify)
		if err != nil && s.wantedProvider() == "" {
			return err
		}
		setup.Closed = err
		a.api.OnReceive = func() { s.heard.Store(time.Now().UnixNano()) }
		setup.API, s.access, s.AuthMethod, s.MissingKey = a.api, a.access, a.method, a.missingKey
	}
	if s.options.Flags.Debug {
		l, stop, err := openDebugLog(s.options.Env.Process, s.options.Secrets)
		if err != nil {
			return err
		}
		s.atEnd(stop)
		setup.API.Logger = l
	}
	if err := s.newPresets(); err != nil {
		return err
	}
	setup.API.Google.Presets = s.Presets
	s.newProviders(&setup)
	s.Setup = setup
	g, stop, err := model.Open(setup)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		if file.Path == setup.Record {
			flag = "--record-responses"
		}
		return &input.Error{Message: flag + ": " + err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	s.Generator = g
	s.atEnd(stop)
	return nil
}

// wantedProvider returns the provider of the model that the user wants, "" for Google. An alias may
// stand for the model.
func (s *ModelServer) wantedProvider() string {
	presets := s.Presets
	if presets == nil {
		presets, _ = s.readPresets() // newPresets prints the problems
	}
	provider, _ := catalog.Provider(presets.Chat(s.options.Settings.Model, false).Model)
	return provider
}

// CheckModel returns why the user's model can't be asked: its settings are wrong, or its provider.
// Models of Vertex AI are no error, although their names resemble those of other providers.
func CheckModel(o *Options) error {
	if _, err := (&ModelServer{options: o}).readPresets(); err != nil {
		return err
	}
	name := (&ModelServer{options: o}).wantedProvider()
	if c, _ := o.Folder().Credential(o.Settings, func(string) {}); name == "" || c.Method == auth.Vertex {
		return nil
	}
	_, err := FindProviders(o).Providers.Named(name)
	return err
}

// ModelProblems returns the problems of request parameters, and of the user's providers except the
// provider of the model.
func ModelProblems(o *Options) (said []string) {
	if presets, err := (&ModelServer{options: o}).readPresets(); err == nil { // otherwise the error ends the run
		said = presets.Unknown
	}
	custom, _ := o.Settings.Merged["providers"].(map[string]any)
	wanted := (&ModelServer{options: o}).wantedProvider()
	roles := o.Settings.Roles()
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		provider, _ := catalog.Provider(roles[role])
		if _, err := FindProviders(o).Providers.Named(provider); provider != "" && custom[provider] == nil && err != nil {
			said = append(said, fmt.Sprintf("model.roles.%s: %v", text.PrintableLine(role), err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		if _, err := FindProviders(o).Providers.Named(name); err != nil && name != wanted {
			said = append(said, err.Error())
		}
		said = append(said, lists.Map(model.UnknownKeys(custom[name]),
			func(unknown string) string { return "providers." + text.PrintableLine(name) + ": " + unknown })...)
	}
	return said
}

// isFree reports whether a model of another provider runs on this machine, where it costs nothing.
func (s *ModelServer) isFree(name string) bool {
	provider, own := catalog.Provider(name)
	if provider == "" || s.providers == nil {
		return false
	}
	found, err := s.providers.Providers.Named(provider)
	return err == nil && found.Free(own)
}

// newProviders adds the models of other providers than Google. If the user's model is one of them,
// a missing key of Google is no problem.
func (s *ModelServer) newProviders(setup *model.Setup) {
	text.Each(ModelProblems(s.options), s.notify)
	set := FindProviders(s.options)
	s.providers, set.Presets, set.Paths = set, s.Presets, setup.API.Google.Vertex
	s.Presets.Context = set.Context
	set.Common.Idle, set.Common.OnReceive, set.Common.Logger = setup.API.Idle, setup.API.OnReceive, setup.API.Logger
	setup.Providers = s.providers.Generator
	s.MissingKey = s.MissingKey && s.wantedProvider() == ""
	s.atEnd(func() { s.providers.Close() })
}

// newPresets reads the presets of models, with the parameters of their requests.
func (s *ModelServer) newPresets() (err error) {
	s.Presets, err = s.readPresets()
	return err
}

func (s *ModelServer) readPresets() (*preset.Table, error) {
	configs, _ := s.options.Settings.Merged["modelConfigs"].(map[string]any)
	presets, err := preset.New(s.access, configs)
	if err != nil {
		return nil, err
	}
	presets.Today, presets.Roles = s.options.Env.Process.Today, s.options.Settings.Roles()
	if large, small := s.options.Settings.Auto(); large != "" && small != "" {
		presets.SetAutoModels(large, small)
		presets.Roles["routing"] = cmp.Or(presets.Roles["routing"], presets.Roles["fast"], small)
	}
	return presets, nil
}

// Provider describes the provider of the model, and its location, for records.
func (s *ModelServer) Provider() []slog.Attr {
	api := s.Setup.API
	name, base := "gcp.gen_ai", "https://generativelanguage.googleapis.com"
	if api.Google.Vertex {
		name, base = "gcp.vertex_ai", "https://aiplatform.googleapis.com"
	}
	attrs := []slog.Attr{slog.String("gen_ai.provider.name", name)}
	u, err := url.Parse(cmp.Or(api.BaseURL, base))
	if s.Setup.Fake != "" || err != nil {
		return attrs
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return append(attrs, slog.String("server.address", u.Hostname()), slog.Int("server.port", port))
}
