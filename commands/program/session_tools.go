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
	"gemline/tools/mcp"
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
	s.env = tools.Env{
		Workspace: s.project.workspace,
		Launcher:  &launcher,
		Secrets:   s.opts.Secrets,
		Kept:      s.project.once.withheld,
		Threshold: s.opts.Settings.Threshold,
		Ripgrep:   s.opts.Settings.Ripgrep,
		Model:     s.modelName,
		Topics:    s.opts.Settings.Topics,
		Summaries: s.opts.Settings.Summaries(),
		Correct:   !s.opts.Settings.NoCorrection,
		Tell:      s.beside.add,
		Web:       web.Tools{Fetcher: s.project.web, Asker: s.asker, Direct: s.opts.Settings.DirectWeb},
		Asker:     s.asker,
		Answered:  s.Approver != nil,
	}
	if s.opts.Settings.ManageContext {
		s.env.Distill = tools.Distillation{Most: s.opts.Settings.DistillTo, SumUp: s.opts.Settings.DistillSumUp}
	}
	if s.opts.Settings.WriteTodos {
		s.env.Todos = &tools.Todos{}
	}
	if s.project.store.Temp != "" {
		s.env.Outputs = s.outputs
	}
	if s.opts.Settings.Tracker && s.project.store.Temp != "" {
		s.env.Tasks = func() string { return filepath.Join(s.project.store.Temp, s.journal.ID(), "tracker") }
	}
	if s.env.Plans = s.newPlans(); s.env.Plans != nil {
		s.policy.Plans = s.env.Plans.Is
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
		s.env.Denied, s.policy.Masked = s.denied, s.project.launcher.Masked
		s.env.Undoable, s.env.Guards = s.undoable, s.guarded().Named
		s.env.Uncovered = s.keeper.Uncovered
		s.env.Gives = gives(s.judge)
	}
	if s.tools = engine.Tools(nil); s.Generator == nil {
		s.tools = s.wrapped(engine.Join(s.offered(s.env, s.judge, s.project.mcp.set), s.env.Skills), s.sync)
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
func (s *Session) denied() (list []tools.Denied) {
	rules := s.policy.Denied()
	if len(rules) == 0 {
		return nil
	}
	for i, m := range s.project.launcher.Masks(policy.Programs(rules)) {
		list = append(list, tools.Denied{Mask: m, Reason: rules[i].Reason()})
	}
	return list
}

// offered returns the tools of env, and those of servers, for a conversation whose calls
// are judged by judge.
func (s *Session) offered(env tools.Env, judge engine.Policy, servers *mcp.Set) engine.Toolset {
	return engine.Join(env.Plans.Tools(slices.Concat(tools.New(env), s.found)), s.served(servers, judge))
}

// wrapped returns the tools of ts as they work in a conversation, whenever they come.
// Its record is on the disk after sync.
func (s *Session) wrapped(ts engine.Toolset, sync func() error) engine.Toolset {
	ts = s.env.Distilled(wrap.Tools(tools.WithMemory(ts, s.memory.Discover), s.opts.Secrets))
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
