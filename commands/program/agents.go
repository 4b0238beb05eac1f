package program

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/tools"
	"gemline/tools/agent"
)

// What the model is told of agents.
const (
	longestAbout = 500 // characters of what one is for
	mostAgents   = 100 // that are named
)

// agents returns the agents that there are, for a conversation with a model.
func (o *Options) agents(model string) []agent.Definition {
	if !o.settings.Agents {
		return nil
	}
	return agent.BuiltIn(model)
}

// callable returns the agents that the model is told of.
func (s *Session) callable() []agent.Definition {
	list := slices.DeleteFunc(s.agents(s.modelName()), func(d agent.Definition) bool { return d.Off != "" })
	return list[:min(len(list), mostAgents)]
}

// agentTool returns the tool that calls agents, whose tools are among ts.
func (s *Session) agentTool(ts engine.Toolset) engine.Toolset {
	cfg := agent.Config{Agents: func() []agent.Definition { return s.agents(s.modelName()) }, Tools: ts, Model: s.modelName, Begin: s.beginAgent}
	if s.env.Distill.Most <= 0 { // else that cuts
		cfg.Cut = func(report string) (string, engine.Cut) { return s.env.Cut(agent.ToolName, report) }
	}
	return s.env.Distilled(wrap.Tools(engine.Tools{agent.Tool(cfg)}, s.secrets))
}

// beginAgent begins the conversation of an agent. It shares with the conversation that has
// called it what judges calls, what keeps files, and what the user has granted. What is
// said, the list of things to do and the record are its own.
func (s *Session) beginAgent(t *agent.Task) (*agent.Conversation, error) {
	file := journal.New(journal.Config{Dir: s.store.Chats(), ID: t.ID, ProjectHash: s.store.Hash, Parent: s.journal.ID()})
	sync := func() error {
		if !s.settings.SyncSession {
			return nil
		}
		return file.Sync()
	}
	var e *engine.Engine
	judge := t.Policy(s.judge)
	env := s.env
	env.Topics, env.Tell, env.Model = false, t.Tell, func() string { return e.Model() }
	if env.Todos != nil {
		env.Todos = &tools.Todos{}
	}
	if env.Gives != nil {
		env.Gives = gives(judge)
	}
	ts := s.wrapped(s.offered(env, judge, s.servers), sync)
	judge = s.hooks.Policy(s.rehearsal.Policy(judge))
	ts = t.Tools(s.hooks.Tools(ts, judge))
	approver := engine.Approver(t)
	if s.Approver == nil { // nobody can be asked which model is to stand in for another
		approver = nil
	}
	router := s.newRouter(cmp.Or(t.Agent.Model, t.Model), approver)
	told := func() prompt.Config { return s.agentPrompt(t, ts, judge, router.Model()) }
	cfg := engine.Config{Model: router.Model(), Generator: asked{s.routed(router), t.Agent.Config}, Tools: ts, Policy: judge, Approver: t,
		TokenLimit: s.presets.TokenLimit, Context: s.newCompressor(),
		System:  func() string { said, _ := prompt.System(told()); return said },
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, told()) }}
	if s.store.Temp != "" && !s.Trial {
		cfg.Journal = wrap.Journal(file, s.secrets.Text)
	}
	e = engine.New(cfg)
	run := func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		run := s.Project.budget.Watch(router.Run(e, e.Run))
		if s.budget != nil {
			run = s.budget.Watch(run)
		}
		return journal.Synced(run, sync)(ctx, parts...)
	}
	return &agent.Conversation{Run: run, End: func(goal string) {
		if goal != "" && cfg.Journal != nil {
			file.SetSummary(s.secrets.Text(text.OneLine(goal, longestAbout))) // what it says is in the file already
		}
		file.Close()
	}}, nil
}

// agentPrompt is what an agent is told before its task.
func (s *Session) agentPrompt(t *agent.Task, ts engine.Toolset, judge engine.Policy, model string) prompt.Config {
	cfg := s.prompt()
	cfg.Interactive, cfg.Agents, cfg.WriteSystemMD, cfg.Tools = false, nil, "", nil
	for _, tool := range ts.Tools() {
		if judge.Offers(tool) {
			cfg.Tools = append(cfg.Tools, tool.Name())
		}
	}
	if cfg.More = agent.Rules(); s.policy.Mode() == policy.Plan {
		cfg.More += "\n- Plan mode is on: nothing is changed, and calls that would change something are denied."
	}
	if cfg.Plan != "" {
		cfg.More += "\n- The user has approved of the plan in " + cfg.Plan + ", which your task is a part of. Read it before you begin."
	}
	if !t.Agent.Core {
		cfg.Own = t.Instruction(map[string]string{"cliVersion": s.os.Version, "activeModel": model,
			"today": time.Now().Format("Monday, January 2, 2006")})
	}
	return cfg
}

// asked are requests of an agent, which it may have settings of its own for.
type asked struct {
	engine.Generator
	config *genai.GenerateContentConfig
}

// Generate implements [engine.Generator].
func (a asked) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	own := *req
	if own.Role = "subagent"; a.config != nil {
		own.Config = model.Merge(a.config, req.Config)
	}
	return a.Generator.Generate(ctx, &own)
}
