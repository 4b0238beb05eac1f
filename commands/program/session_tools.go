package program

import (
	"context"
	"path/filepath"
	"slices"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/redact/wrap"
	"gemline/repl/output"
	"gemline/tools"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/mcp"
	"gemline/tools/outputs"
	"gemline/tools/plan"
	"gemline/tools/web"
)

// newTools makes the tools, the memory and who judges calls.
func (s *Session) newTools() {
	s.Tally.Cost = s.project.model.cost
	launcher := *s.project.launcher
	cut := outputs.Limits{Secrets: s.opts.Secrets, Threshold: s.opts.Settings.Threshold,
		Summaries: s.opts.Settings.Summaries(), Asker: s.models.asker}
	if s.opts.Settings.ManageContext {
		cut.Distill = outputs.Distillation{Most: s.opts.Settings.DistillTo, SumUp: s.opts.Settings.DistillSumUp}
	}
	if s.project.store.Temp != "" {
		cut.Dir = s.chat.outputs
	}
	s.families = tools.Families{
		Files: files.Tools{Workspace: s.project.workspace, Secrets: s.opts.Secrets, Ripgrep: s.opts.Settings.Ripgrep, Seen: &files.Sight{}},
		Web:   web.Tools{Fetcher: s.project.web, Asker: s.models.asker, Direct: s.opts.Settings.DirectWeb},
		Commands: command.Tools{Workspace: s.project.workspace, Launcher: &launcher, Kept: s.project.once.withheld,
			Answered: s.Approver != nil, Outputs: cut, Tell: s.notify},
		Model:  s.modelName,
		Topics: s.opts.Settings.Topics,
	}
	if !s.opts.Settings.NoCorrection {
		s.families.Files.Correct = &files.Correction{Asker: s.models.asker, Tell: s.beside.add}
	}
	if s.opts.Settings.WriteTodos {
		s.families.Todos = &plan.Todos{}
	}
	if s.opts.Settings.Tracker && s.project.store.Temp != "" {
		s.families.Tasks = func() string { return filepath.Join(s.project.store.Temp, s.chat.file.ID(), "tracker") }
	}
	s.newSkills()
	s.memory = project.NewMemory(s.opts, s.project.workspace, s.project.store.Temp, s.notify)
	s.keeper = s.newKeeper()
	plain := func(text string) bool { return output.Visible(text) == text }
	s.rehearsal = tools.Rehearse(s.project.workspace, s.project.overlay, s.opts.Flags.DryRun, plain)
	s.rules = newRules(s, s.Approver)
	if s.families.Plans = newPlans(s.project, s.rules, s.chat.file.ID(), s.chat.recorded()); s.families.Plans != nil {
		s.rules.policy.Plans = s.families.Plans.Is
	}
	if s.project.launcher.Sandbox != nil {
		launcher.Denied = func() []string { return policy.Programs(s.rules.policy.Denied()) }
		run := &s.families.Commands
		run.Denied, s.rules.policy.Masked = s.rules.denied, s.project.launcher.Masked
		run.Undoable, run.Guards = s.rules.undoable, s.rules.files().Named
		run.Uncovered = s.keeper.Uncovered
		run.Gives = gives(s.rules)
	}
	if s.tools = engine.Tools(nil); s.Generator == nil {
		s.tools = s.wrapped(engine.Join(s.offered(s.families, s.rules, s.project.mcp.set), s.skills), s.chat.sync)
		s.tools = engine.Join(s.tools, s.agentTool(s.tools))
	}
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
func (s *Session) offered(f tools.Families, judge engine.Policy, servers *mcp.Set) engine.Toolset {
	return engine.Join(f.Plans.Tools(slices.Concat(tools.New(f), s.found)), s.served(servers, judge))
}

// wrapped returns the tools of ts as they work in a conversation, whenever they come.
// Its record is on the disk after sync.
func (s *Session) wrapped(ts engine.Toolset, sync func() error) engine.Toolset {
	ts = s.families.Commands.Outputs.Distilled(wrap.Tools(files.WithMemory(ts, s.memory.Discover), s.opts.Secrets))
	return journal.Durable(s.keeper.Tools(s.rehearsal.Tools(ts)), sync)
}
