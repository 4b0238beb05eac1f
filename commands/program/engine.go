package program

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"log"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/commands/cli"
	"gemline/engine"
	"gemline/engine/auth"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/repl/input"
	"gemline/settings"
)

// limit makes the budget. What tokens cost is read when somebody counts money.
func (s *session) limit() error {
	var told sync.Once
	load := sync.OnceValues(func() (limit.Prices, error) { return limit.LoadPrices(s.paths.User("prices.toml"), time.Now()) })
	prices := func() limit.Prices {
		ps, err := load()
		if err != nil {
			told.Do(func() { s.notify(err.Error()) })
		}
		if s.reach == model.ByAssist { // which is not paid by tokens
			return nil
		}
		return ps
	}
	s.count.Cost = func(u engine.Usage) (float64, string, bool) { return prices().Cost(u) }
	cfg := limit.Config{Tokens: s.flags.MaxTokens, Cost: s.flags.MaxCost, Calls: s.flags.MaxToolCalls,
		Price:  func(model string) (limit.Price, bool) { p, ok := prices()[model]; return p, ok },
		Resume: s.goOn}
	if s.flags.Batch != "" { // time and calls are each item's own
		cfg.Calls, cfg.Resume = 0, nil
	}
	if s.converses() {
		cfg.Time = time.Duration(s.flags.Timeout)
	}
	s.budget = limit.New(cfg)
	if cfg.Cost > 0 || s.json != nil || s.flags.Batch != "" || cmp.Or(s.flags.Format(), s.settings.Format) != "text" {
		_, err := load()
		return err
	}
	return nil
}

// goOn returns the command that goes on with the session, "" if there is none.
func (s *session) goOn() string {
	if s.project.Temp == "" {
		return ""
	}
	return "gemline --resume " + s.journal.ID()
}

// converses reports whether there may be more than one answer, each with its
// own time.
func (s *session) converses() bool {
	return s.interactive || s.flags.Talks()
}

// answer carries out a prompt within the budget.
func (s *session) answer(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	run := engine.Run(s.engine.Run)
	if s.whole != nil {
		run = s.whole.Watch(run)
	}
	return journal.Synced(s.budget.Watch(run), s.sync)(ctx, parts...)
}

// sync has the disk keep the session, unless the settings leave that to the system.
func (s *session) sync() error {
	if !s.settings.SyncSession {
		return nil
	}
	return s.journal.Sync()
}

// waiting is how long one request may be put off by a busy server in all.
const waiting = 10 * time.Minute

// ask makes the generator: the API or a recording, and what wraps it.
func (s *session) ask() error {
	setup := model.Setup{Fake: s.flags.FakeResponses, Strict: true, Record: s.flags.RecordResponses, Meter: s.budget.Generator,
		Retry: model.RetryOptions{Attempts: s.settings.MaxAttempts, Budget: waiting}}
	if d := time.Duration(s.flags.Timeout); d > 0 {
		setup.Retry.Budget = min(waiting, d)
	}
	if s.flags.FakeNonStrict != "" {
		setup.Fake, setup.Strict = s.flags.FakeNonStrict, false
	}
	if err := s.pay(&setup); err != nil {
		return err
	}
	if s.flags.Debug {
		l, err := s.debugLog()
		if err != nil {
			return err
		}
		setup.Logger, setup.API.Logger = l, l
	}
	s.setup = setup
	g, stop, err := model.Open(setup)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return &input.Error{Message: err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	s.generator, s.aside, s.closers = g, g, append(s.closers, stop)
	return nil
}

// structure has the generator ask for what is demanded of the answer.
func (s *session) structure() error {
	d := s.demand
	if d == nil || d.Schema == nil {
		return nil
	}
	structured, err := model.Structure(s.generator, d.Schema.JSON())
	if err != nil {
		return err
	}
	s.generator, d.Insist = structured, structured.Insist
	return nil
}

// pay finds out what pays for requests, unless a recording answers them. What
// is kept somewhere is looked for by the first request.
func (s *session) pay(setup *model.Setup) error {
	if setup.Fake != "" {
		return nil
	}
	key, warning, err := auth.ReadKey(s.flags.KeyFile)
	if err != nil {
		return err
	}
	if warning != "" {
		s.notify(warning)
	}
	c, err := auth.Choose(auth.Config{Selected: s.settings.AuthType, Enforced: s.settings.EnforcedAuth, External: s.settings.ExternalAuth,
		Key: key, KeyFrom: "--key-file", Getenv: s.getenv, DotEnv: s.dotenv, GOOS: runtime.GOOS, Request: s.settings.VertexShare, Shared: s.settings.VertexUrge})
	if err != nil {
		return err
	}
	idle := time.Duration(min(s.settings.Idle, math.MaxInt32)) * time.Second
	if idle <= 0 {
		idle = -1
	}
	setup.API = model.Options{Idle: idle, Heard: func() { s.heard.Store(time.Now().UnixNano()) },
		APIKey: c.Key, Bearer: c.Bearer, Header: c.Header, Keyless: c.Method == auth.Gateway || c.External,
		Vertex: c.Method == auth.Vertex, CodeAssist: c.Method == auth.Compute, Project: c.Project, Location: c.Location, Quota: c.Quota,
		Secrets: s.secrets, BaseURL: c.BaseURL, APIVersion: c.APIVersion, Version: s.os.Version,
		Proxy: model.ProxyFrom(s.getenv), CAs: model.CAsFrom(s.getenv)}
	s.reach = cli.Reach(c.Method)
	if c.Account != nil {
		setup.API.Account, setup.API.Metadata = c.Account.Read, c.Account.Host
	}
	if c.Stored {
		store := auth.NewStore(s.paths.User(), s.getenv)
		s.unpaid = !store.May(c)
		setup.API.FindKey = func(ctx context.Context) (string, error) {
			key, _, err := store.Find(ctx, c)
			return key, err
		}
	}
	return nil
}

// debugLog returns the log of -d, which takes what libraries log, too.
func (s *session) debugLog() (*slog.Logger, error) {
	w := s.os.Stderr
	if name := s.os.getenv("GEMINI_DEBUG_LOG_FILE"); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, func() { f.Close() })
		w = f
	}
	log.SetOutput(redactingWriter{w, s.secrets})
	s.os.Stray(w)
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: s.redactedAttr})), nil
}

// converse makes the engine.
func (s *session) converse(approver engine.Approver, past []*genai.Content) {
	guarded, asker := policy.Guard(s.policy, s.policy.Propose(approver, s.settings.NoAlways), s.guarded())
	s.gives = func(ctx context.Context, q engine.Proposal) bool {
		verdict, _ := guarded.Judge(ctx, q)
		return verdict == engine.Allow
	}
	cfg := engine.Config{
		Model:      s.modelName(),
		Generator:  s.generator,
		Tools:      s.tools,
		Policy:     s.rehearsal.Policy(guarded),
		Approver:   asker,
		MaxTurns:   s.settings.MaxTurns,
		TokenLimit: model.TokenLimit,
		System: func() string {
			if s.system != "" {
				return s.system
			}
			text, _ := prompt.System(s.prompt()) // build has seen what may be wrong
			return text
		},
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, s.prompt()) },
	}
	if s.project.Temp != "" && !s.trial {
		cfg.Journal = wrap.Journal(s.journal, s.secrets.Text)
	}
	s.engine = engine.New(cfg, past...)
	s.env.Todos.Restore(past)
}

// modelName returns the name of the model that is asked.
func (s *session) modelName() string {
	if s.engine != nil {
		return s.engine.Model()
	}
	return s.reach.Resolve(cmp.Or(s.settings.Model, model.Default))
}

// prompt is what the system instruction and the opening message depend on, as
// it is at the moment.
func (s *session) prompt() prompt.Config {
	m := s.memory.Contents()
	cfg := prompt.Config{
		Interactive: s.answered(),
		Mode:        string(s.policy.Mode()),
		Git:         prompt.InRepository(s.paths.Cwd),
		Notes:       s.memory.Notes(),
		Disabled:    prompt.Disabled(s.getenv),
		SystemMD:    s.systemMD(), WriteSystemMD: s.getenv("GEMINI_WRITE_SYSTEM_MD"),
		Home:   s.paths.Home,
		Global: m.Global, Private: m.Private, Extension: m.Extension, Project: m.Project, Names: s.memory.Names(),
		Now: time.Now(), OS: runtime.GOOS, Temp: s.project.Temp, Roots: s.workspace.Roots(),
		Tree: s.settings.Tree, Ignored: s.workspace.Ignored,
	}
	if s.pen.sandbox != nil {
		cfg.Sandbox = "sandbox"
		if runtime.GOOS == "darwin" {
			cfg.Sandbox = s.pen.state().Name
		}
	}
	for _, t := range s.tools.Tools() {
		if s.rehearsal.Policy(s.policy).Offers(t) {
			cfg.Tools = append(cfg.Tools, t.Name())
		}
	}
	return cfg
}

// systemMD returns what GEMINI_SYSTEM_MD says. Switched on without a path, it
// means a file of the project's.
func (s *session) systemMD() string {
	v := s.getenv("GEMINI_SYSTEM_MD")
	if on := strings.ToLower(v); (on == "1" || on == "true") && s.trust.State < settings.Unneeded {
		return ""
	}
	return v
}
