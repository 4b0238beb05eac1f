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

// Models answer the prompts of a conversation, and requests beside it.
type Models struct {
	server    *project.ModelServer
	settings  *settings.Settings
	recorder  *telemetry.Recorder
	attempt   engine.Generator // of one request
	generator engine.Generator // of the conversation
	Router    *route.Router    // decides which model answers
	routing   route.Config     // of all routers, without the model and the approver
	thinking  string           // the thinking level, "" is that of the settings
	asker     *oneshot.Asker   // asks beside the conversation; nil if no model can be asked
	budget    *limit.Budget    // the conversation's own, beside the project's; may be nil
}

// newModels returns the models of a conversation. Asked returns the current model, planned whether
// a plan is carried out, and resume the command that resumes the conversation. Hooks see every
// attempt of a request, and the records hold the request after the hooks.
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
	if c.Generator == nil { // otherwise no model can be asked beside the conversation
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

// routerConfig returns the common configuration of a conversation's routers. They score no prompt
// of a trial, and none that a given generator answers.
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

// newRouter returns the router for a wanted model. If the settings don't choose the model for a
// prompt without a score, the smaller model answers where nobody watches, since it is cheaper.
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

// routedGenerator returns the generator that asks the model that a router chooses.
func (m *Models) routedGenerator(r *route.Router) engine.Generator {
	return r.Generator(func(most int) engine.Generator {
		return m.recorder.Retries(model.Retry(m.attempt, m.server.RetryOptions(most)))
	})
}

// withinBudget returns a run that ends when the budget is used up.
func (m *Models) withinBudget(run engine.Run) engine.Run {
	if run = m.server.Budget.Watch(run); m.budget != nil {
		run = m.budget.Watch(run)
	}
	return run
}

// requireSchema makes the generator ask for an answer by the schema of d; a nil d changes nothing.
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

// Think changes the thinking level of models, also for later conversations.
func (m *Models) Think(level string) {
	m.thinking = level
	m.Router.Think(level)
}

// answerServer answers a request of an MCP server with the conversation's model, beside the
// conversation.
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
