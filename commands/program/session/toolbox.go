package session

import (
	"context"
	"slices"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/repl/report"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/files"
	"gemline/tools/mcp"
	"gemline/tools/skill"
)

// A Toolbox has the tools of a conversation.
type Toolbox struct {
	project    *project.Project
	models     *Models
	rules      *Rules
	keeper     *checkpoint.Keeper
	memory     *memory.Memory
	Skills     *skill.ActiveSkills // nil if skills are off
	Rehearsal  *tools.Rehearsal    // of a run that changes nothing, else nil
	Families   tools.Families      // the built-in tools
	discovered engine.Tools        // tools that the command of the settings has declared
	Toolset    engine.Toolset      // all tools, as they work in the conversation
}

// withServers returns the built-in tools, and the tools of servers, for a conversation whose calls
// are judged by judge.
func (t *Toolbox) withServers(f tools.Families, judge engine.Policy, servers *mcp.Set) engine.Toolset {
	return engine.Join(f.Plans.Tools(slices.Concat(tools.New(f), t.discovered)), t.serverTools(servers, judge))
}

// serverTools returns the tools of servers, wrapped for the judge and the answers of a
// conversation.
func (t *Toolbox) serverTools(servers *mcp.Set, judge engine.Policy) engine.Toolset {
	c := mcp.Callbacks{Policy: judge, Trusting: func() bool { return t.rules.Policy.Mode() == policy.Yolo },
		Cut: t.Families.Commands.Outputs.Cut}
	if t.models.asker != nil {
		c.Answer = t.models.answerServer
	}
	return servers.Tools(c)
}

// wrap adapts the tools of ts to a conversation, including tools that come later. Sync flushes the
// conversation's record to the disk.
func (t *Toolbox) wrap(ts engine.Toolset, sync func() error) engine.Toolset {
	ts = t.Families.Commands.Outputs.Distilled(wrap.Tools(files.WithMemory(ts, t.memory.Discover), t.project.Options.Secrets))
	return journal.SyncTools(t.keeper.Tools(t.Rehearsal.Tools(ts)), sync)
}

// Title returns the title of a call by its tool, or the name of the tool if it gives none.
func (t *Toolbox) Title(ctx context.Context, fc *genai.FunctionCall) string {
	for _, tool := range t.Toolset.Tools() {
		if tool.Name() != fc.Name || tool.Prepare == nil {
			continue
		}
		if call, err := tool.Prepare(ctx, fc.Args); err == nil && call.Intent.Title != "" {
			return call.Intent.Title
		}
	}
	return fc.Name
}

// Kind returns the kind of a call of a tool.
func (t *Toolbox) Kind(name string, args map[string]any) engine.Kind {
	for _, tool := range t.Toolset.Tools() {
		if tool.Name() == name && tool.KindOf != nil {
			return tool.KindOf(args)
		}
	}
	return engine.KindOf(t.Toolset, name)
}

// OfferedToClients returns the tools that another program may call: no tools of other servers,
// which the program can reach itself, nor tools that belong to a conversation.
func (t *Toolbox) OfferedToClients() []engine.Tool {
	return slices.DeleteFunc(t.OfferedToModel(), func(t engine.Tool) bool {
		return t.Server != "" || t.Kind == engine.AskUser || t.Kind == engine.Planning || t.Kind == engine.Think
	})
}

// OfferedToModel returns the tools that the model may call.
func (t *Toolbox) OfferedToModel() []engine.Tool {
	return slices.DeleteFunc(slices.Clone(t.Toolset.Tools()), func(tool engine.Tool) bool {
		return tool.When != nil && !tool.When() || !t.rules.Policy.Offers(tool)
	})
}

// offeredSkills returns the skills for the prompt, if the model has the tool for skills.
func (t *Toolbox) offeredSkills(names []string) []prompt.Entry {
	if t.Skills == nil || !slices.Contains(names, skill.ToolName) {
		return nil
	}
	return lists.Map(t.Skills.Library.Skills(), func(one skill.Skill) prompt.Entry {
		return prompt.Entry{Name: one.Name, Description: one.Description, Location: one.File}
	})
}

// printSkillProblems prints the problems of skills.
func (t *Toolbox) printSkillProblems(notify func(string)) {
	if t.Skills == nil {
		return
	}
	t.Skills.Library.All()
	text.Each(t.Skills.Library.Notes(), notify)
}

// collected returns the changes that a dry run would have made.
func (t *Toolbox) collected() report.DryRun {
	c := report.DryRun{Patch: t.Rehearsal.Patch()}
	if !t.project.Options.Flags.DryRun {
		return c
	}
	c.Planned = lists.Map(t.Rehearsal.Steps(), func(step tools.Step) report.PlannedCall { return report.PlannedCall(step) })
	return c
}

// allowsUnasked returns whether a policy lets a call run unasked.
func allowsUnasked(p engine.Policy) func(context.Context, engine.Proposal) bool {
	return func(ctx context.Context, q engine.Proposal) bool {
		verdict, _ := p.Judge(ctx, q)
		return verdict == engine.Allow
	}
}
