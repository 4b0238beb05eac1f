package program

import (
	"path/filepath"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/policy"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/tools"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/outputs"
	"gemline/tools/plan"
	"gemline/tools/skill"
	"gemline/tools/web"
)

// newRules returns the rules of a conversation with a memory and a keeper.
func newRules(s *Session, skills *skill.Active) *rules {
	p, approver := s.project, s.Approver
	r := &rules{policy: s.Policy, hasUser: approver != nil, project: p, keeper: s.keeper, skills: skills,
		model: s.modelName, recorder: s.models.recorder, notify: s.notices.notify}
	r.files = func() policy.GuardedFiles {
		return project.GuardedFiles(p.opts, p.workspace.Roots, p.store.Temp, s.memory.Names())
	}
	if approver == nil {
		approver = &question.Headless{FailOnAsk: p.opts.Flags.FailOnAsk, Flags: r.allowing}
	}
	r.Policy, r.asker = policy.Guard(r.policy, r.policy.OfferRules(approver, p.opts.Settings.NoAlways), r.files())
	return r
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
