package program

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/policy"
	"gemline/engine/redact/wrap"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/tools"
	"gemline/tools/command"
	"gemline/tools/files"
	"gemline/tools/mcp"
	"gemline/tools/outputs"
	"gemline/tools/plan"
	"gemline/tools/web"
)

// outputs returns the directory of files that belong to the session, "" if there is none.
func (s *Session) outputs() string {
	if s.project.store.Temp == "" {
		return ""
	}
	return filepath.Join(s.project.store.Temp, "tool-outputs", "session-"+s.journal.ID())
}

// newTools makes the tools, the memory and who judges calls, and returns who is asked
// about them.
func (s *Session) newTools() (asker engine.Approver) {
	s.Tally.Cost = s.project.model.cost
	launcher := *s.project.launcher
	cut := outputs.Limits{Secrets: s.opts.Secrets, Threshold: s.opts.Settings.Threshold,
		Summaries: s.opts.Settings.Summaries(), Asker: s.asker}
	if s.opts.Settings.ManageContext {
		cut.Distill = outputs.Distillation{Most: s.opts.Settings.DistillTo, SumUp: s.opts.Settings.DistillSumUp}
	}
	if s.project.store.Temp != "" {
		cut.Dir = s.outputs
	}
	s.families = tools.Families{
		Files: files.Tools{Workspace: s.project.workspace, Secrets: s.opts.Secrets, Ripgrep: s.opts.Settings.Ripgrep, Seen: &files.Sight{}},
		Web:   web.Tools{Fetcher: s.project.web, Asker: s.asker, Direct: s.opts.Settings.DirectWeb},
		Commands: command.Tools{Workspace: s.project.workspace, Launcher: &launcher, Kept: s.project.once.withheld,
			Answered: s.Approver != nil, Outputs: cut, Tell: s.notify},
		Model:  s.modelName,
		Topics: s.opts.Settings.Topics,
	}
	if !s.opts.Settings.NoCorrection {
		s.families.Files.Correct = &files.Correction{Asker: s.asker, Tell: s.beside.add}
	}
	if s.opts.Settings.WriteTodos {
		s.families.Todos = &plan.Todos{}
	}
	if s.opts.Settings.Tracker && s.project.store.Temp != "" {
		s.families.Tasks = func() string { return filepath.Join(s.project.store.Temp, s.journal.ID(), "tracker") }
	}
	if s.families.Plans = s.newPlans(); s.families.Plans != nil {
		s.policy.Plans = s.families.Plans.Is
	}
	s.newSkills()
	s.memory = project.NewMemory(s.opts, s.project.workspace, s.project.store.Temp, s.notify)
	s.keeper = s.newKeeper()
	plain := func(text string) bool { return output.Visible(text) == text }
	s.rehearsal = tools.Rehearse(s.project.workspace, s.project.overlay, s.opts.Flags.DryRun, plain)
	approver := s.Approver
	if approver == nil {
		approver = &question.Headless{FailOnAsk: s.opts.Flags.FailOnAsk, Flags: s.allowing}
	}
	guarded, asker := policy.Guard(s.policy, s.policy.Propose(approver, s.opts.Settings.NoAlways), s.guarded())
	s.judge = searching{taking{narrowing{calling{guarded, s}, s}, s}, s}
	if s.project.launcher.Sandbox != nil {
		launcher.Denied = func() []string { return policy.Programs(s.policy.Denied()) }
		run := &s.families.Commands
		run.Denied, s.policy.Masked = s.denied, s.project.launcher.Masked
		run.Undoable, run.Guards = s.undoable, s.guarded().Named
		run.Uncovered = s.keeper.Uncovered
		run.Gives = gives(s.judge)
	}
	if s.tools = engine.Tools(nil); s.Generator == nil {
		s.tools = s.wrapped(engine.Join(s.offered(s.families, s.judge, s.project.mcp.set), s.skills), s.sync)
		s.tools = engine.Join(s.tools, s.agentTool(s.tools))
	}
	return asker
}

// gives returns whether a policy lets a call run unasked.
func gives(p engine.Policy) func(context.Context, engine.Proposal) bool {
	return func(ctx context.Context, q engine.Proposal) bool {
		verdict, _ := p.Judge(ctx, q)
		return verdict == engine.Allow
	}
}

// denied returns the programs that are not there for commands, with the rules.
func (s *Session) denied() (list []command.Denied) {
	rules := s.policy.Denied()
	if len(rules) == 0 {
		return nil
	}
	for i, m := range s.project.launcher.Masks(policy.Programs(rules)) {
		list = append(list, command.Denied{Mask: m, Reason: rules[i].Reason()})
	}
	return list
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

// allowing returns the narrowest flags with which a call that is asked about would
// run unasked, "" if there are none. It says nothing that it has not tried.
func (s *Session) allowing(q engine.Proposal) string {
	allows := func(m policy.Mode, rules ...policy.Rule) bool {
		return s.guarded().Explain(s.policy.With(m, rules...), q).Verdict == engine.Allow
	}
	mode := s.policy.Mode()
	for _, list := range policy.Entries(q) {
		rules, wrong := policy.Lists{Allowed: list}.Rules(policy.User, "the command line")
		flag := "--allowed-tools " + flagList(list)
		if wrong == nil && len(flag) <= longestFlag && allows(mode, rules...) {
			return flag
		}
	}
	if q.Intent.Secret == "" && s.mayUse(policy.Yolo) == nil && allows(policy.Yolo) {
		return "--approval-mode yolo"
	}
	return ""
}

// flagList writes values as the one value of a flag that takes several, for a
// shell.
func flagList(values []string) string {
	var list []string
	for _, v := range values {
		list = append(list, strings.ReplaceAll(v, ",", `\,`))
	}
	joined := strings.Join(list, ",")
	if strings.ContainsAny(joined, "\"\\$`!") {
		return "'" + strings.ReplaceAll(joined, "'", `'\''`) + "'"
	}
	return `"` + joined + `"`
}

// longestFlag is how many characters of a flag are worth typing.
const longestFlag = 400
