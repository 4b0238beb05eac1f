package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
)

// policyCommand is gemline policy.
type policyCommand struct {
	List    policyList    `cmd:"" default:"withargs" help:"List the rules, the strongest first." slash:"list"`
	Test    policyTest    `cmd:"" help:"Say what would become of a shell command, command by command." slash:"test" rest:""`
	Explain policyExplain `cmd:"" help:"Say what would become of a call of a tool, and which rules are about it." slash:"explain" rest:""`
	Revoke  policyRevoke  `cmd:"" help:"Take back rules that you made with always; without a place, list them." slash:"revoke" rest:""`
}

// A ruleRecord is a rule in gemline policy --json.
type ruleRecord struct {
	Decision string   `json:"decision"`
	Tier     string   `json:"tier"`
	Priority int      `json:"priority"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"`
	Tools    []string `json:"tools"`
	About    string   `json:"about"`
	Message  string   `json:"message,omitempty"`

	where string // the place of the rule
}

func ruleOf(r policy.Rule) ruleRecord {
	return ruleRecord{policy.VerdictName(r.Verdict), r.Tier.String(), r.Priority, r.Origin.File, r.Origin.Line, r.Tools, r.About(),
		r.Message, r.Where()}
}

// lines returns a rule's line of the list.
func (r ruleRecord) lines() []string {
	return []string{fmt.Sprintf("%-8s  %s  (%s, priority %d, %s)", r.Decision, r.About, r.Tier, r.Priority, r.where)}
}

type policyList struct{}

// Run prints the rules.
func (*policyList) Run(out *Output, here *Folder, p *policy.Policy) error {
	l := listingOf("rules", lists.Map(p.Rules(), ruleOf))
	l.doc["approval_mode"] = p.Mode()
	l.lines = append([]string{"approval mode: " + string(p.Mode())}, l.lines...)
	here.leftOut(out, "rules", here.Paths.Workspace("policies", "*.toml"))
	return out.list(l, "")
}

type policyTest struct {
	headless
	Command []string `arg:"" help:"The command line, behind --; several words are those of one command."`
}

// Run judges the command and prints why.
func (c *policyTest) Run(ctx context.Context, out *Output, trial *Trial) error {
	defer trial.Close()
	line := c.Command[0]
	if slices.ContainsFunc(trial.Tools.Tools(), func(t engine.Tool) bool { return t.Name() == line }) && len(c.Command) == 1 {
		out.Notify(fmt.Sprintf("%s is taken for a command; gemline policy explain %[1]s is about the tool", line))
	}
	if len(c.Command) > 1 {
		line = engine.Quote(lists.Map(c.Command, func(w string) engine.Word { return engine.Word{Text: w, Known: true} }))
	}
	return out.judge(ctx, trial, policy.Shell, map[string]any{"command": line}, false)
}

type policyExplain struct {
	headless
	Tool string `arg:"" complete:"tool" help:"Such as write_file."`
	Args string `arg:"" optional:"" help:"The arguments, as an object of JSON."`
}

// Run judges the call and prints why.
func (c *policyExplain) Run(ctx context.Context, out *Output, trial *Trial) error {
	defer trial.Close()
	var args map[string]any
	if c.Args != "" {
		if err := text.Unmarshal([]byte(c.Args), &args); err != nil {
			return misused("the arguments must be an object of JSON: %v", err)
		}
	}
	return out.judge(ctx, trial, c.Tool, args, true)
}

// A ruling is the verdict about a call or a command, for --json.
type ruling struct {
	Command string      `json:"command,omitempty"`
	Inside  string      `json:"inside,omitempty"`
	Verdict string      `json:"verdict"` // allow, ask or deny
	Rule    *ruleRecord `json:"rule,omitempty"`
	Why     string      `json:"why,omitempty"`

	of policy.Ruling
}

func rulingOf(f policy.Ruling) ruling {
	r := ruling{f.Command, f.Inside, verdictWord(f.Verdict), nil, f.Why, f}
	if f.Rule != nil {
		rule := ruleOf(*f.Rule)
		r.Rule = &rule
	}
	return r
}

func verdictWord(v engine.Verdict) string {
	return map[engine.Verdict]string{engine.Allow: "allow", engine.Ask: "ask", engine.Deny: "deny"}[v]
}

// judge prints the judgement of a call. Without arguments it is about the tool.
func (out *Output) judge(ctx context.Context, trial *Trial, name string, args map[string]any, all bool) error {
	p := trial.Policy
	callable := slices.DeleteFunc(slices.Clone(trial.Tools.Tools()), func(t engine.Tool) bool { return t.Prepare == nil })
	t, err := toolFamily(callable, engine.Tool.Name).find(name)
	if err != nil {
		return err
	}
	q := unspecified(t)
	idle := false
	q.Args = args
	if args != nil {
		args, _ = t.Fitted(args)
		q.Args, q.Tool = args, t.Of(args)
		var call engine.Call
		call, err = t.Prepare(ctx, args)
		q.Intent, idle = call.Intent, call.Idle
	}
	e := trial.Explain(ctx, q)
	if err != nil && (e.Verdict != engine.Deny || trial.Offers(t)) {
		return fmt.Errorf("the call would fail: %w", err)
	}
	if args == nil && e.Verdict == engine.Deny && trial.Offers(t) {
		e.Why = "some calls run by another rule"
	}
	if before := q.Intent.Plan.MustAsk; before != nil && e.Verdict == engine.Allow && e.Rule != nil && e.Rule.Tier == policy.BuiltIn {
		if why := before(ctx); why != "" {
			e.Ruling = policy.Ruling{Verdict: engine.Ask, Why: why}
		}
	}
	if idle && e.Verdict == engine.Ask {
		e.Ruling = policy.Ruling{Verdict: engine.Allow, Why: "the call changes nothing"}
	}
	plan := q.Intent.Plan
	j := judgement{ruling: rulingOf(e.Ruling), Mode: p.Mode(), Class: e.Class, ClassWhy: plan.Why, Reason: e.Reason,
		Commands: lists.Map(e.Commands, rulingOf), class: plan.Class, tool: name, unattended: p.Unattended}
	if args == nil && len(e.Commands) == 0 && !out.JSON {
		j.Class = "" // the call has no command
	}
	if all {
		j.Rules = lists.Map(p.RulesFor(q.Tool), ruleOf)
	}
	return out.show(j, j.lines()...)
}

// A judgement is the verdict about a call with its reasons, for --json.
type judgement struct {
	ruling
	Mode     policy.Mode  `json:"approval_mode"`
	Class    string       `json:"class,omitempty"`
	ClassWhy string       `json:"class_why,omitempty"` // why the command line is not plain
	Reason   string       `json:"reason,omitempty"`
	Commands []ruling     `json:"commands,omitempty"`
	Rules    []ruleRecord `json:"rules,omitempty"` // rules for the tool

	class      engine.Class // of the command line
	tool       string       // that is called
	unattended bool         // no user can be asked
}

// lines describes the verdict about each command and about the call.
func (j judgement) lines() (lines []string) {
	for _, f := range j.Commands {
		inside := ""
		if f.Inside != "" {
			inside = " (inside " + f.Inside + ")"
		}
		lines = append(lines, f.Command+inside+": "+verdictText(f.of, j.unattended))
	}
	subject := j.tool
	if j.Class != "" {
		subject = "all of it"
	}
	lines = append(lines, subject+": "+verdictText(j.of, j.unattended))
	if j.Class != "" && j.ClassWhy != "" && j.Why == "" {
		lines = append(lines, "it "+policy.ClassReason(j.class)+": "+j.ClassWhy)
	}
	if j.Reason != "" {
		lines = append(lines, "the model would be told: "+j.Reason)
	}
	if len(j.Rules) > 0 {
		lines = append(append(lines, "rules about it, the strongest first:"), listingOf("rules", j.Rules).lines...)
	}
	return lines
}

// verdictText describes the verdict about a call or a command, who decides, and why.
func verdictText(f policy.Ruling, unattended bool) string {
	said := map[engine.Verdict]string{engine.Allow: "runs unasked", engine.Ask: "you are asked",
		engine.Deny: "does not run"}[f.Verdict]
	if unattended && f.Verdict == engine.Ask {
		said = "does not run, since nobody is there to ask"
	}
	switch {
	case f.Rule == nil && f.Why == "":
		return said + ", by no rule"
	case f.Rule == nil:
		return said + ": " + f.Why
	}
	said += ", by " + owner(f.Rule)
	if f.Why != "" {
		said += ": " + f.Why
	}
	return said
}

// owner names the owner and the place of a rule.
func owner(r *policy.Rule) string {
	whose := map[policy.Tier]string{policy.Extension: "an extension's rule", policy.Project: "a rule of this project",
		policy.User: "your rule", policy.Admin: "the administrator's rule"}[r.Tier]
	switch {
	case r.Tier == policy.BuiltIn && r.About() == "*":
		return "the built-in rule for all else"
	case r.Tier == policy.BuiltIn:
		return "a built-in rule (" + r.About() + ")"
	}
	return whose + " in " + r.Where()
}

type policyRevoke struct {
	Place string `arg:"" optional:"" help:"FILE:LINE, as it is listed, or this session:NUMBER."`
}

// Run revokes a rule: in its file and in the session.
func (c *policyRevoke) Run(out *Output, p *policy.Policy) error {
	kept := slices.DeleteFunc(p.Rules(), func(r policy.Rule) bool { return !r.Learned() || r.Origin.Line == 0 })
	if c.Place == "" {
		return out.list(listingOf("rules", lists.Map(kept, ruleOf)), "you have kept nothing with always")
	}
	i := slices.IndexFunc(kept, func(r policy.Rule) bool { return r.Where() == c.Place })
	if i < 0 {
		return misused("you have kept no rule with always at %s; gemline policy revoke lists them", shorten(c.Place))
	}
	was, err := p.Revoke(kept[i].Origin)
	if err != nil {
		return err
	}
	r := ruleOf(kept[i])
	return out.show(map[string]any{"revoked": r}, append([]string{"taken back:"}, strings.Split(cmp.Or(was, r.lines()[0]), "\n")...)...)
}
