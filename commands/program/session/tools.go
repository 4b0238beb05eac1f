package session

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
func newRules(s *Session, skills *skill.Active) *Rules {
	p, approver := s.Project, s.Approver
	r := &Rules{Base: s.Policy, hasUser: approver != nil, project: p, keeper: s.Keeper, skills: skills,
		model: s.ModelName, recorder: s.Models.Recorder, notify: s.Notices.Notify}
	r.Files = func() policy.GuardedFiles {
		return project.GuardedFiles(p.Options, p.Workspace.Roots, p.Store.Temp, s.Memory.Names())
	}
	if approver == nil {
		approver = &question.Headless{FailOnAsk: p.Options.Flags.FailOnAsk, Flags: r.Allowing}
	}
	r.Policy, r.asker = policy.Guard(r.Base, r.Base.OfferRules(approver, p.Options.Settings.NoAlways), r.Files())
	return r
}

// newTools makes the memory, the keeper, the rules and the tools. A command has declared the
// tools that were found.
func (s *Session) newTools(found engine.Tools) {
	s.Tally.Cost = s.Project.Model.Cost
	s.Memory = project.NewMemory(s.Project.Options, s.Project.Workspace, s.Project.Store.Temp, s.Notices.Notify)
	s.Keeper = newKeeper(s.Project, s.Choice, s.Chat, s.Notices.Notify)
	skills := newSkills(s.Project, s.Choice)
	s.Rules = newRules(s, skills)
	s.Tools = newToolbox(s, skills, found)
	if s.Generator == nil {
		own := s.Tools.offered(s.Tools.Families, s.Rules, s.Project.MCP.Servers)
		own = s.Tools.wrapped(engine.Join(own, skills), s.Chat.sync)
		s.Tools.All = engine.Join(own, s.agentTool(own))
	}
}

// newToolbox returns the tools of a conversation, none of which is offered yet.
func newToolbox(s *Session, skills *skill.Active, found engine.Tools) *Toolbox {
	p, o := s.Project, s.Project.Options
	t := &Toolbox{project: p, models: s.Models, rules: s.Rules, keeper: s.Keeper, memory: s.Memory, Skills: skills,
		found: found, All: engine.Tools(nil)}
	launcher := *p.Launcher
	cut := outputs.Limits{Secrets: o.Secrets, Threshold: o.Settings.Threshold,
		Summaries: o.Settings.Summaries(), Asker: s.Models.asker}
	if o.Settings.ManageContext {
		cut.Distill = outputs.Distillation{Most: o.Settings.DistillTo, SumUp: o.Settings.DistillSumUp}
	}
	if p.Store.Temp != "" {
		cut.Dir = s.Chat.outputs
	}
	t.Families = tools.Families{
		Files: files.Tools{Workspace: p.Workspace, Secrets: o.Secrets, Ripgrep: o.Settings.Ripgrep, Seen: &files.Sight{}},
		Web:   web.Tools{Fetcher: p.Web, Asker: s.Models.asker, Direct: o.Settings.DirectWeb},
		Commands: command.Tools{Workspace: p.Workspace, Launcher: &launcher, WithheldNotice: p.Once.WithheldNotice,
			Answered: s.Approver != nil, Outputs: cut, Emit: s.Notices.Notify},
		Model:  s.ModelName,
		Topics: o.Settings.Topics,
	}
	if !o.Settings.NoCorrection {
		t.Families.Files.Correct = &files.Correction{Asker: s.Models.asker, Tell: s.Notices.queue.Add}
	}
	if o.Settings.WriteTodos {
		t.Families.Todos = &plan.Todos{}
	}
	if o.Settings.Tracker && p.Store.Temp != "" {
		t.Families.Tasks = func() string { return filepath.Join(p.Store.Temp, s.Chat.File.ID(), "tracker") }
	}
	plain := func(text string) bool { return output.Visible(text) == text }
	t.Rehearsal = tools.Rehearse(p.Workspace, p.Workspace.Overlay, o.Flags.DryRun, plain)
	if t.Families.Plans = newPlans(p, s.Rules, s.Chat.File.ID(), s.Chat.Recorded()); t.Families.Plans != nil {
		s.Rules.Base.Plans = t.Families.Plans.Is
	}
	if p.Launcher.Sandbox != nil {
		launcher.Denied = func() []string { return policy.Programs(s.Rules.Base.Denied()) }
		run := &t.Families.Commands
		run.Denied, s.Rules.Base.Masked = s.Rules.denied, p.Launcher.Masked
		run.Revertible, run.Guards = s.Rules.revertible, s.Rules.Files().Named
		run.Uncovered = s.Keeper.Uncovered
		run.AutoGrant = gives(s.Rules)
	}
	return t
}
