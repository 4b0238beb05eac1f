package session

import (
	"fmt"
	"path/filepath"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/policy"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/outputs"
	"gemline/tools/plan"
	"gemline/tools/skill"
	"gemline/tools/web"
)

// newTools makes the memory, the keeper, the rules and the tools. Found are the tools that a
// command has declared.
func (s *Session) newTools(found engine.Tools) {
	s.Config.Tally.Cost = s.Project.Model.Cost
	s.Memory = project.NewMemory(s.Project.Options, s.Project.Workspace, s.Project.Store.Temp, s.Notices.Notify)
	s.Keeper = newKeeper(s.Project, s.Config, s.Journal, s.Notices.Notify)
	skills := newSkills(s.Project, s.Config)
	s.Rules = newRules(s, skills)
	s.Tools = newToolbox(s, skills, found)
	if s.Config.Generator == nil {
		own := s.Tools.withServers(s.Tools.Families, s.Rules, s.Project.MCP.Servers)
		own = s.Tools.wrap(engine.Join(own, skills), s.Journal.sync)
		s.Tools.Toolset = engine.Join(own, s.agentTool(own))
	}
}

// newToolbox returns the tools of a conversation, before any is offered to the model.
func newToolbox(s *Session, skills *skill.ActiveSkills, found engine.Tools) *Toolbox {
	p, o := s.Project, s.Project.Options
	t := &Toolbox{project: p, models: s.Models, rules: s.Rules, keeper: s.Keeper, memory: s.Memory, Skills: skills,
		discovered: found, Toolset: engine.Tools(nil)}
	launcher := *p.Launcher
	cut := outputs.Limits{Secrets: o.Secrets, Threshold: o.Settings.Threshold,
		Summaries: o.Settings.Summaries(), Asker: s.Models.asker}
	if o.Settings.ManageContext {
		cut.Distill = outputs.Distillation{MaxTokens: o.Settings.DistillTo, SumUp: o.Settings.DistillSumUp}
	}
	if p.Store.Temp != "" {
		cut.Dir = s.Journal.outputDir
	}
	t.Families = tools.Families{
		Files: files.Tools{Workspace: p.Workspace, Secrets: o.Secrets, Ripgrep: o.Settings.Ripgrep, Known: &files.KnownFiles{}},
		Web:   web.Tools{Fetcher: p.Web, Asker: s.Models.asker, Direct: o.Settings.DirectWeb},
		Commands: command.Tools{Workspace: p.Workspace, Launcher: &launcher, WithheldNotice: p.Once.WithheldNotice,
			HasUser: s.Config.Approver != nil, Outputs: cut, Emit: s.Notices.Notify},
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
		t.Families.Tasks = func() string { return filepath.Join(p.Store.Temp, s.Journal.File.ID(), "tracker") }
	}
	plain := func(text string) bool { return output.Visible(text) == text }
	t.Rehearsal = tools.Rehearse(p.Workspace, p.Workspace.Overlay, o.Flags.DryRun, plain)
	if t.Families.Plans = newPlans(p, s.Rules, s.Journal.File.ID(), s.Journal.Recorded()); t.Families.Plans != nil {
		s.Rules.Policy.Plans = t.Families.Plans.Is
	}
	if p.Launcher.Sandbox != nil {
		launcher.Denied = func() []string { return policy.DeniedPrograms(s.Rules.Policy.Denied()) }
		run := &t.Families.Commands
		run.Denied, s.Rules.Policy.Masked = s.Rules.denied, p.Launcher.Masked
		run.Revertible, run.Guards = s.Rules.revertible, s.Rules.GuardedFiles().GuardsName
		run.Uncovered = s.Keeper.Uncovered
		run.AutoGrant = allowsUnasked(s.Rules)
	}
	return t
}

// newSkills returns the skills of a conversation, nil if skills are off.
func newSkills(p *project.Project, c Config) *skill.ActiveSkills {
	if !p.Options.Settings.Skills || c.Generator != nil {
		return nil
	}
	return &skill.ActiveSkills{Library: p.Skills, Lend: p.Workspace.Lend}
}

// newKeeper returns the keeper, which stores states of files for a conversation.
func newKeeper(p *project.Project, c Config, at *Journal, notify func(string)) *checkpoint.Keeper {
	cfg := checkpoint.Config{Dir: p.Store.History(), Workspace: p.Workspace, Ledger: p.Options.Ledger,
		Except: project.UntrackedDirs(p.Options), Session: at.File.ID,
		Hide: p.Options.Secrets.Text, Notify: notify, Strict: func() bool { return c.policy.Mode() == policy.Auto }}
	switch {
	case !p.Options.Settings.Checkpoints:
		cfg.Off = "general.checkpointing.enabled in the settings is false"
	case c.Scratch != "":
		cfg.Dir = c.Scratch
	case c.Trial, p.Workspace.Overlay != nil, p.Options.Flags.DryRun:
		cfg.Off, cfg.Notify = "nothing is changed by this run", func(string) {} // the run changes no file, so nothing can be undone
	}
	k := checkpoint.New(cfg)
	if err := k.Copy(at.copyOf); err != nil && at.copyOf != "" {
		notify(fmt.Sprintf("what the session has changed that this is a copy of can't be taken back here: %v", err))
	}
	return k
}

// newRules returns the rules of a conversation with a memory and a keeper.
func newRules(s *Session, skills *skill.ActiveSkills) *Rules {
	p, approver := s.Project, s.Config.Approver
	r := &Rules{Policy: s.Config.policy, hasUser: approver != nil, project: p, keeper: s.Keeper, skills: skills,
		model: s.ModelName, recorder: s.Models.recorder, notify: s.Notices.Notify}
	r.GuardedFiles = func() policy.GuardedFiles {
		return project.GuardedFiles(p.Options, p.Workspace.Roots, p.Store.Temp, s.Memory.Names())
	}
	if approver == nil {
		approver = &question.Headless{FailOnAsk: p.Options.Flags.FailOnAsk, Flags: r.AllowingFlags}
	}
	r.guarded, r.asker = policy.Guard(r.Policy, r.Policy.OfferRules(approver, p.Options.Settings.NoAlways), r.GuardedFiles())
	return r
}
