package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/hook"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/route"
	"gemline/engine/policy"
	"gemline/engine/telemetry"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/settings"
	"gemline/tools/mcp"
)

// Models answer in a conversation, and requests beside it.
type Models struct {
	server    *project.ModelServer
	settings  *settings.Settings
	recorder  *telemetry.Recorder
	attempt   engine.Generator // of one request
	generator engine.Generator // of the conversation
	Router    *route.Router    // decides which model answers
	routing   route.Config     // of routers, but for the model and who is asked
	thinking  string           // how much models think, "" is as the settings say
	asker     *oneshot.Asker   // asks beside the conversation; nil if nobody can be asked
	budget    *limit.Budget    // the conversation's own, beside the project's; may be nil
}

// newModels returns what answers in a conversation. Asked returns the model that is asked,
// planned whether a plan is carried out, and resume the command that goes on with the
// conversation. Hooks see every attempt of a request, and the records hold what is sent after
// these.
func newModels(p *project.Project, c Config, r *telemetry.Recorder, h *hook.Hooks, asked func() string, planned func() bool, resume func() string) *Models {
	m := &Models{server: &p.Model, settings: p.Options.Settings, recorder: r, thinking: c.thinking}
	attempt := r.Generator(p.Model.Generator)
	if c.Generator != nil {
		attempt = c.Generator
	}
	if c.Limits != nil {
		limits := *c.Limits
		limits.Resume = resume
		m.budget = limit.New(limits)
		attempt = m.budget.Generator(attempt)
	}
	m.attempt = h.Generator(attempt)
	if c.Generator == nil { // else nobody is there who could be asked beside the conversation
		m.asker = &oneshot.Asker{Generator: attempt, Presets: p.Model.Presets, Attempts: p.Options.Settings.MaxAttempts,
			Health: &p.Model.Health, Model: asked}
	}
	m.routing = m.routerConfig(p, c, planned)
	m.Router = m.newRouter(cmp.Or(c.Model, p.Options.Settings.Model), c.Approver)
	if m.generator = m.attempt; c.Generator == nil {
		m.generator = m.routedGenerator(m.Router)
	}
	return m
}

// routerConfig returns what the routers of a conversation have in common. Nothing is asked about a prompt that is a
// trial, or whose answer is there.
func (m *Models) routerConfig(p *project.Project, c Config, planned func() bool) route.Config {
	cfg := route.Config{Presets: p.Model.Presets, Health: &p.Model.Health, Action: route.Action(p.Options.Settings.Fallback)}
	if m.recorder != nil {
		cfg.Decided = func(d route.Decision) { recordDecision(m.recorder, c.policy.Mode(), d) }
	}
	if p.Options.Settings.Routing && !c.Trial && c.Generator == nil {
		cfg.Asker = m.asker
	}
	if p.Model.Setup.Fake == "" {
		cfg.List = func(ctx context.Context) ([]string, error) { return p.Model.ListModels(ctx, "") }
	}
	cfg.Mode = func() route.Mode {
		mode := c.policy.Mode()
		m := route.Mode{Planning: mode == policy.Plan, Planned: planned(), Yolo: mode == policy.Yolo}
		if !p.Options.Settings.PlanRouting {
			m.Planning, m.Planned = false, false
		}
		return m
	}
	return cfg
}

// newRouter makes what decides which model answers, where a model is wanted. If the settings
// don't say which one answers a prompt without a score, it is not the dearer one by accident
// where nobody watches.
func (m *Models) newRouter(wanted string, approver engine.Approver) *route.Router {
	cfg, o := m.routing, m.settings
	unscored := "larger"
	if approver == nil {
		unscored = "smaller"
	}
	cfg.Model, cfg.Approver, cfg.Thinking = wanted, approver, cmp.Or(m.thinking, o.ThinkLevel)
	cfg.Small = cmp.Or(o.Unscored, unscored) == "smaller"
	return route.New(cfg)
}

// routedGenerator returns the generator that asks the models that a router decides on.
func (m *Models) routedGenerator(r *route.Router) engine.Generator {
	return r.Generator(func(most int) engine.Generator {
		return m.recorder.Retries(model.Retry(m.attempt, m.server.RetryOptions(most)))
	})
}

// withinBudget returns a run that ends where the budget does.
func (m *Models) withinBudget(run engine.Run) engine.Run {
	if run = m.server.Budget.Watch(run); m.budget != nil {
		run = m.budget.Watch(run)
	}
	return run
}

// requireSchema has the generator ask for an answer by the schema of d; a nil d changes nothing.
func (m *Models) requireSchema(d *report.OutputSchema) error {
	if d == nil || d.Schema == nil {
		return nil
	}
	structured, err := model.Structure(m.generator, d.Schema.JSON())
	if err != nil {
		return err
	}
	m.generator, d.Insist = structured, structured.Insist
	return nil
}

// Choose changes the model of the conversation that e holds.
func (m *Models) Choose(e *engine.Engine, name string) {
	m.Router.Choose(name)
	e.SetModel(m.Router.Model())
}

// Think changes how much models think, in the conversations after this one, too.
func (m *Models) Think(level string) {
	m.thinking = level
	m.Router.Think(level)
}

// answerServer has the model of the conversation answer an MCP server, beside the conversation.
func (m *Models) answerServer(ctx context.Context, host engine.Host, q mcp.Sampling) (a mcp.Answer, err error) {
	const (
		thoughts = 8 << 10 // tokens; they count as tokens of the answer
		most     = 32 << 10
	)
	name := m.Router.Answering()
	c, err := m.asker.Ask(ctx, oneshot.Question{Purpose: name, System: q.System, Contents: q.Messages, Tell: host.Emit,
		With: func(cfg *genai.GenerateContentConfig) {
			if q.MaxTokens > 0 && q.MaxTokens <= most {
				cfg.MaxOutputTokens = int32(q.MaxTokens + thoughts)
			}
			if q.Temperature > 0 && !slices.Contains(catalog.Lookup(m.server.Presets.Chat(name, false).Model).Ignores, "temperature") {
				cfg.Temperature = new(float32(q.Temperature))
			}
			cfg.StopSequences = q.Stop
		}})
	if err != nil {
		return a, err
	}
	return mcp.Answer{Text: oneshot.AnswerText(c), Model: m.server.Presets.Purpose(name).Model,
		Cut: c.FinishReason == genai.FinishReasonMaxTokens}, nil
}

// RecordCommand records that the user ran a slash command.
func (m *Models) RecordCommand(path []string, err error) {
	status := "success"
	if err != nil && !errors.Is(err, input.ErrQuit) {
		status = "error"
	}
	ev := telemetry.Event{Name: "gemini_cli.slash_command", Body: "Slash command: " + strings.Join(path, " ") + ".",
		Attrs: []slog.Attr{slog.String("command", path[0]), slog.String("status", status)}}
	if len(path) > 1 {
		ev.Attrs = append(ev.Attrs, slog.String("subcommand", path[1]))
	}
	m.recorder.Log(ev)
}
