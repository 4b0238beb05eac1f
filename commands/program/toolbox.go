package program

import (
	"context"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/prompt"
	"gemline/engine/redact/wrap"
	"gemline/repl/report"
	"gemline/tools"
	"gemline/tools/checkpoint"
	"gemline/tools/files"
	"gemline/tools/mcp"
	"gemline/tools/skill"
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

// gives returns whether a policy lets a call run unasked.
func gives(p engine.Policy) func(context.Context, engine.Proposal) bool {
	return func(ctx context.Context, q engine.Proposal) bool {
		verdict, _ := p.Judge(ctx, q)
		return verdict == engine.Allow
	}
}
