package program

import (
	"context"
	"path/filepath"
	"slices"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/repl/output"
	"gemline/repl/report"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/mcp"
	"gemline/tools/outputs"
	"gemline/tools/plan"
	"gemline/tools/skill"
	"gemline/tools/web"
)

// A toolbox is what the model of a conversation may call.
type toolbox struct {
	project   *Project
	models    *models
	rules     *rules
	keeper    *checkpoint.Keeper
	memory    *memory.Memory
	skills    *skill.Active    // nil if there are to be none
	rehearsal *tools.Rehearsal // of a run that changes nothing, else nil
	families  tools.Families
	found     engine.Tools   // that a command has declared
	all       engine.Toolset // as they work in the conversation
}

// newTools makes the memory, the keeper, the rules and the tools. A command has declared the
// tools that were found.
func (s *Session) newTools(found engine.Tools) {
	s.Tally.Cost = s.project.model.cost
	s.memory = project.NewMemory(s.project.opts, s.project.workspace, s.project.store.Temp, s.notices.notify)
	s.keeper = newKeeper(s.project, s.Choice, s.chat, s.notices.notify)
	skills := newSkills(s.project, s.Choice)
	s.rules = newRules(s, skills)
	s.tools = newToolbox(s, skills, found)
	if s.Generator == nil {
		own := s.tools.offered(s.tools.families, s.rules, s.project.mcp.set)
		own = s.tools.wrapped(engine.Join(own, skills), s.chat.sync)
		s.tools.all = engine.Join(own, s.agentTool(own))
	}
}

// newToolbox returns the tools of a conversation, none of which is offered yet.
func newToolbox(s *Session, skills *skill.Active, found engine.Tools) *toolbox {
	p, o := s.project, s.project.opts
	t := &toolbox{project: p, models: s.models, rules: s.rules, keeper: s.keeper, memory: s.memory, skills: skills,
		found: found, all: engine.Tools(nil)}
	launcher := *p.launcher
	cut := outputs.Limits{Secrets: o.Secrets, Threshold: o.Settings.Threshold,
		Summaries: o.Settings.Summaries(), Asker: s.models.asker}
	if o.Settings.ManageContext {
		cut.Distill = outputs.Distillation{Most: o.Settings.DistillTo, SumUp: o.Settings.DistillSumUp}
	}
	if p.store.Temp != "" {
		cut.Dir = s.chat.outputs
	}
	t.families = tools.Families{
		Files: files.Tools{Workspace: p.workspace, Secrets: o.Secrets, Ripgrep: o.Settings.Ripgrep, Seen: &files.Sight{}},
		Web:   web.Tools{Fetcher: p.web, Asker: s.models.asker, Direct: o.Settings.DirectWeb},
		Commands: command.Tools{Workspace: p.workspace, Launcher: &launcher, WithheldNotice: p.once.withheld,
			Answered: s.Approver != nil, Outputs: cut, Emit: s.notices.notify},
		Model:  s.modelName,
		Topics: o.Settings.Topics,
	}
	if !o.Settings.NoCorrection {
		t.families.Files.Correct = &files.Correction{Asker: s.models.asker, Tell: s.notices.queue.add}
	}
	if o.Settings.WriteTodos {
		t.families.Todos = &plan.Todos{}
	}
	if o.Settings.Tracker && p.store.Temp != "" {
		t.families.Tasks = func() string { return filepath.Join(p.store.Temp, s.chat.file.ID(), "tracker") }
	}
	plain := func(text string) bool { return output.Visible(text) == text }
	t.rehearsal = tools.Rehearse(p.workspace, p.overlay, o.Flags.DryRun, plain)
	if t.families.Plans = newPlans(p, s.rules, s.chat.file.ID(), s.chat.recorded()); t.families.Plans != nil {
		s.rules.policy.Plans = t.families.Plans.Is
	}
	if p.launcher.Sandbox != nil {
		launcher.Denied = func() []string { return policy.Programs(s.rules.policy.Denied()) }
		run := &t.families.Commands
		run.Denied, s.rules.policy.Masked = s.rules.denied, p.launcher.Masked
		run.Revertible, run.Guards = s.rules.revertible, s.rules.files().Named
		run.Uncovered = s.keeper.Uncovered
		run.AutoGrant = gives(s.rules)
	}
	return t
}

// gives returns whether a policy lets a call run unasked.
func gives(p engine.Policy) func(context.Context, engine.Proposal) bool {
	return func(ctx context.Context, q engine.Proposal) bool {
		verdict, _ := p.Judge(ctx, q)
		return verdict == engine.Allow
	}
}

// offered returns the built-in tools, and those of servers, for a conversation whose calls
// are judged by judge.
func (t *toolbox) offered(f tools.Families, judge engine.Policy, servers *mcp.Set) engine.Toolset {
	return engine.Join(f.Plans.Tools(slices.Concat(tools.New(f), t.found)), t.served(servers, judge))
}

// served returns the tools of servers, as they are judged and answered in a conversation.
func (t *toolbox) served(servers *mcp.Set, judge engine.Policy) engine.Toolset {
	c := mcp.Conversation{Policy: judge, Trusting: func() bool { return t.rules.policy.Mode() == policy.Yolo },
		Cut: t.families.Commands.Outputs.Cut}
	if t.models.asker != nil {
		c.Answer = t.models.answer
	}
	return servers.Tools(c)
}

// wrapped returns the tools of ts as they work in a conversation, whenever they come.
// Its record is on the disk after sync.
func (t *toolbox) wrapped(ts engine.Toolset, sync func() error) engine.Toolset {
	ts = t.families.Commands.Outputs.Distilled(wrap.Tools(files.WithMemory(ts, t.memory.Discover), t.project.opts.Secrets))
	return journal.Durable(t.keeper.Tools(t.rehearsal.Tools(ts)), sync)
}

// title says what a call was to do, in the words of its tool where it can tell.
func (t *toolbox) title(ctx context.Context, fc *genai.FunctionCall) string {
	for _, tool := range t.all.Tools() {
		if tool.Name() != fc.Name || tool.Prepare == nil {
			continue
		}
		if call, err := tool.Prepare(ctx, fc.Args); err == nil && call.Intent.Title != "" {
			return call.Intent.Title
		}
	}
	return fc.Name
}

// kind returns the kind that a call of a tool has.
func (t *toolbox) kind(name string, args map[string]any) engine.Kind {
	for _, tool := range t.all.Tools() {
		if tool.Name() == name && tool.KindOf != nil {
			return tool.KindOf(args)
		}
	}
	return engine.KindOf(t.all, name)
}

// forClients returns the tools that another program may call: no tools of other servers,
// which the program can reach itself, nor tools that belong to a conversation.
func (t *toolbox) forClients() []engine.Tool {
	return slices.DeleteFunc(t.forModel(), func(t engine.Tool) bool {
		return t.Server != "" || t.Kind == engine.AskUser || t.Kind == engine.Planning || t.Kind == engine.Think
	})
}

// forModel returns the tools that the model may call.
func (t *toolbox) forModel() []engine.Tool {
	return slices.DeleteFunc(slices.Clone(t.all.Tools()), func(tool engine.Tool) bool {
		return tool.When != nil && !tool.When() || !t.rules.policy.Offers(tool)
	})
}

// offeredSkills returns the skills as the model is told about them, if it has the tool for
// them.
func (t *toolbox) offeredSkills(names []string) (list []prompt.Entry) {
	if t.skills == nil || !slices.Contains(names, skill.ToolName) {
		return nil
	}
	for _, one := range t.skills.Library.Skills() {
		list = append(list, prompt.Entry{Name: one.Name, Description: one.Description, Location: one.File})
	}
	return list
}

// tellSkills prints the problems of skills.
func (t *toolbox) tellSkills(notify func(string)) {
	if t.skills == nil {
		return
	}
	t.skills.Library.All()
	for _, note := range t.skills.Library.Notes() {
		notify(note)
	}
}

// collected returns what a run would have done that changes nothing.
func (t *toolbox) collected() report.Collected {
	c := report.Collected{Patch: t.rehearsal.Patch()}
	if !t.project.opts.Flags.DryRun {
		return c
	}
	c.Planned = []report.Planned{}
	for _, step := range t.rehearsal.Steps() {
		c.Planned = append(c.Planned, report.Planned(step))
	}
	return c
}
