package session

import (
	"context"
	"iter"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/tools/agent"
	"gemline/tools/files"
	"gemline/tools/plan"
)

// agentTool returns the tool that calls agents, whose tools are among ts.
func (s *Session) agentTool(ts engine.Toolset) engine.Toolset {
	cfg := agent.Config{Tools: ts, Model: s.ModelName, Begin: s.beginAgent, Remote: s.agents.asker}
	cfg.Agents = func() []agent.Definition { list, _ := s.Project.Options.Agents().List(); return list }
	cfg.Cut = func(report string) (string, engine.Cut) {
		return s.Tools.Families.Commands.Outputs.Cut(agent.ToolName, report)
	}
	return s.Tools.Families.Commands.Outputs.Distilled(wrap.Tools(engine.Tools{agent.Tool(cfg)}, s.Project.Options.Secrets))
}

// beginAgent begins the conversation of an agent. The policy, the checkpoints of files and
// the user's grants are those of the calling conversation; the messages, the list of things
// to do and the record are its own.
func (s *Session) beginAgent(t *agent.Task) (*agent.Session, error) {
	file := journal.New(journal.Config{Dir: s.Project.Store.Chats(), ID: t.ID, ProjectHash: s.Project.Store.Hash,
		Parent: s.Journal.File.ID()})
	saver, sync := s.Journal.saver.Agent(file), s.Journal.syncFunc(file)
	var e *engine.Engine
	judge := t.Policy(s.Rules)
	f := s.Tools.Families
	f.Files.Known = nil // files that the user showed to another model
	f.Topics, f.Model = false, func() string { return e.Model() }
	asker := s.Models.asker.For(f.Model)
	f.Web.Asker, f.Commands.Outputs.Asker = asker, asker
	if f.Files.Correct != nil {
		f.Files.Correct = &files.Correction{Asker: asker, Tell: t.Emit}
	}
	if f.Todos != nil {
		f.Todos = &plan.Todos{}
	}
	if f.Commands.AutoGrant != nil {
		f.Commands.AutoGrant = allowsUnasked(judge)
	}
	servers := s.agents.servers(t.Agent, s.Notices.Notify)
	ts := s.Tools.wrap(engine.Join(s.Tools.serverTools(servers, judge), s.Tools.withServers(f, judge, s.Project.MCP.Servers), s.Tools.Skills), sync)
	judge = s.Hooks.Policy(s.Tools.Rehearsal.Policy(judge))
	ts = t.Tools(s.Hooks.Tools(ts, judge))
	approver := engine.Approver(t)
	if s.Config.Approver == nil { // nobody can be asked about a fallback model
		approver = nil
	}
	router := s.Models.newRouter(s.agents.model(t), approver)
	told := func() prompt.Config { return s.agentPrompt(t, ts, judge, router.Model()) }
	cfg := engine.Config{Model: router.Model(), Generator: agentGenerator{s.Models.routedGenerator(router), t.Agent.Model.Config},
		Tools: ts, Policy: judge, Approver: t,
		TokenLimit: s.Project.Model.Presets.TokenLimit, Context: newCompressor(s.Project.Options.Settings, s.Models.asker, s.Hooks, s.Tools.Families.Commands.Outputs.Store),
		System:  func() string { said, _ := prompt.System(told()); return said },
		Opening: func(ctx context.Context) *genai.Content { return prompt.Opening(ctx, told()) }}
	if s.Journal.Recorded() {
		cfg.Journal = wrap.Journal(saver, s.Project.Options.Secrets.Text)
	}
	e = engine.New(cfg)
	run := func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
		if servers != nil {
			servers.Start()
			if late := servers.Wait(ctx, time.Duration(s.Project.Options.Settings.ConnectSeconds)*time.Second); len(late) > 0 && ctx.Err() == nil {
				s.Project.Status.Queue.Add(engine.Notice{Text: t.Agent.Name +
					" goes on without MCP servers of its own that are not connected: " +
					text.PrintableLine(text.List(late))})
			}
		}
		return journal.SyncRun(s.Models.withinBudget(router.Run(e, e.Run)), sync)(ctx, parts...)
	}
	return &agent.Session{Run: run, End: func(goal string) {
		if goal != "" && cfg.Journal != nil {
			file.SetSummary(s.Project.Options.Secrets.Text(text.OneLine(goal, longestAbout))) // the file stores what the agent says already
		}
		saver.Close()
		servers.Close()
	}}, nil
}

// agentPrompt returns the facts for the instruction and the opening message of an agent.
func (s *Session) agentPrompt(t *agent.Task, ts engine.Toolset, judge engine.Policy, model string) prompt.Config {
	cfg := s.prompt()
	cfg.Interactive, cfg.Agents, cfg.Override.WriteSystemMD = false, nil, ""
	cfg.Tools = lists.Map(lists.Filter(ts.Tools(), judge.Offers), engine.Tool.Name)
	cfg.Skills = s.Tools.offeredSkills(cfg.Tools)
	if cfg.More = agent.Rules(); s.Rules.Policy.Mode() == policy.Plan {
		cfg.More += "\n- Plan mode is on: nothing is changed, and calls that would change something are denied."
	}
	if cfg.Files.Plan != "" {
		cfg.More += "\n- The user has approved of the plan in " + cfg.Files.Plan +
			", which your task is a part of. Read it before you begin."
	}
	if !t.Agent.Prompt.Core {
		cfg.Override.Own = t.Instruction(map[string]string{"cliVersion": s.Project.Options.Env.Process.Version, "activeModel": model,
			"today": time.Now().Format("Monday, January 2, 2006")})
	}
	return cfg
}

// agentGenerator sends the requests of an agent, with the agent's own settings.
type agentGenerator struct {
	engine.Generator
	config *genai.GenerateContentConfig
}

// Generate implements [engine.Generator].
func (a agentGenerator) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	own := *req
	if own.Role = "subagent"; a.config != nil {
		own.Config = model.Merge(a.config, req.Config)
	}
	return a.Generator.Generate(ctx, &own)
}
