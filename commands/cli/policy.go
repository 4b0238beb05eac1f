package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/settings"
)

// policyCommand is gemline policy.
type policyCommand struct {
	List    policyList    `cmd:"" default:"withargs" help:"List the rules, the strongest first."`
	Test    policyTest    `cmd:"" help:"Say what would become of a shell command, command by command."`
	Explain policyExplain `cmd:"" help:"Say what would become of a call of a tool, and which rules are about it."`
	Revoke  policyRevoke  `cmd:"" help:"Take back what was said always to; without a place, list it."`
}

// A rule is one as gemline policy --json lists it.
type rule struct {
	Decision string   `json:"decision"`
	Tier     string   `json:"tier"`
	Priority int      `json:"priority"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"`
	Tools    []string `json:"tools"`
	About    string   `json:"about"`
	Message  string   `json:"message,omitempty"`
}

func shownRule(r *policy.Rule) *rule {
	if r == nil {
		return nil
	}
	return &rule{policy.Word(r.Verdict), r.Tier.String(), r.Priority, r.File, r.Line, r.Tools, r.About(), r.Message}
}

func shownRules(list []policy.Rule) []*rule {
	out := []*rule{}
	for i := range list {
		out = append(out, shownRule(&list[i]))
	}
	return out
}

// rules prints rules, a line for each.
func (w *World) rules(list []policy.Rule) error {
	var lines []string
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%-8s  %s  (%s, priority %d, %s)", policy.Word(r.Verdict), r.About(), r.Tier, r.Priority, r.Where()))
	}
	return w.lines(lines)
}

type policyList struct{}

// Run prints the rules.
func (*policyList) Run(w *World) error {
	_, p, err := w.Project.Toolset()
	if err != nil {
		return err
	}
	if w.JSON {
		return w.document(map[string]any{"approval_mode": p.Mode(), "rules": shownRules(p.Rules())})
	}
	if err := w.line("approval mode: %s", p.Mode()); err != nil {
		return err
	}
	return w.rules(p.Rules())
}

type policyTest struct {
	Headless bool     `help:"Judge as in a run without a user."`
	Command  []string `arg:"" help:"The command line, behind --; several words are those of one command."`
}

// Run judges the command and prints why.
func (c *policyTest) Run(ctx context.Context, w *World) error {
	line := c.Command[0]
	if len(c.Command) > 1 {
		words := make([]engine.Word, len(c.Command))
		for i, w := range c.Command {
			words[i] = engine.Word{Text: w, Known: true}
		}
		line = engine.Quote(words)
	}
	return w.judge(ctx, policy.Shell, map[string]any{"command": line}, c.Headless, false)
}

type policyExplain struct {
	Headless bool   `help:"Judge as in a run without a user."`
	Tool     string `arg:"" complete:"tool" help:"Such as write_file."`
	Args     string `arg:"" optional:"" help:"The arguments, as an object of JSON."`
}

// Run judges the call and prints why.
func (c *policyExplain) Run(ctx context.Context, w *World) error {
	var args map[string]any
	if c.Args != "" {
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			return &settings.UsageError{Message: "the arguments must be an object of JSON: " + err.Error()}
		}
	}
	return w.judge(ctx, c.Tool, args, c.Headless, true)
}

// A ruling is what the rules make of a call or of a command, as --json has it.
type ruling struct {
	Command string `json:"command,omitempty"`
	Inside  string `json:"inside,omitempty"`
	Verdict string `json:"verdict"` // allow, ask or deny
	Rule    *rule  `json:"rule,omitempty"`
	Why     string `json:"why,omitempty"`
}

func shownRuling(f policy.Finding) ruling {
	return ruling{f.Command, f.Inside, verdictWord(f.Verdict), shownRule(f.Rule), f.Why}
}

func verdictWord(v engine.Verdict) string {
	return map[engine.Verdict]string{engine.Allow: "allow", engine.Ask: "ask", engine.Deny: "deny"}[v]
}

// judge prints what becomes of a call. Without arguments it is about the tool.
func (w *World) judge(ctx context.Context, name string, args map[string]any, headless, all bool) error {
	set, p, err := w.Project.Toolset()
	if err != nil {
		return err
	}
	p = p.As(headless)
	var q engine.Proposal
	var names []string
	for _, t := range set.Tools() {
		names = append(names, t.Name())
		if t.Name() == name {
			q = unspecified(t)
		}
	}
	q.Args = args
	if q.Tool.Prepare == nil {
		return &settings.UsageError{Message: fmt.Sprintf("no tool %q%s; there are: %s", shorten(name), meant(name, names), strings.Join(names, ", "))}
	}
	if args != nil {
		call, err := q.Tool.Prepare(ctx, args)
		if err != nil {
			return fmt.Errorf("the call would fail: %w", err)
		}
		q.Intent = call.Intent
	}
	e := w.Project.Guarded().Explain(p, q)
	var about []policy.Rule
	if all {
		about = p.Concerning(q.Tool)
	}
	if w.JSON {
		return w.judged(p, e, q.Intent.Plan.Why, about, all)
	}
	if args == nil && len(e.Commands) == 0 {
		e.Class = "" // there is no command
	}
	return w.told(e, q.Intent.Plan.Why, about)
}

// judged prints an explanation as a document. Why is what keeps the class of a
// command from being better.
func (w *World) judged(p *policy.Policy, e policy.Explanation, why string, about []policy.Rule, all bool) error {
	doc := struct {
		ruling
		Mode     policy.Mode `json:"approval_mode"`
		Class    string      `json:"class,omitempty"`
		ClassWhy string      `json:"class_why,omitempty"`
		Reason   string      `json:"reason,omitempty"`
		Commands []ruling    `json:"commands,omitempty"`
		Rules    []*rule     `json:"rules,omitempty"`
	}{ruling: shownRuling(e.Finding), Mode: p.Mode(), Class: e.Class, ClassWhy: why, Reason: e.Reason}
	for _, f := range e.Commands {
		doc.Commands = append(doc.Commands, shownRuling(f))
	}
	if all {
		doc.Rules = shownRules(about)
	}
	return w.document(doc)
}

// told prints an explanation in lines.
func (w *World) told(e policy.Explanation, why string, about []policy.Rule) error {
	var lines []string
	for _, f := range e.Commands {
		inside := ""
		if f.Inside != "" {
			inside = " (inside " + f.Inside + ")"
		}
		lines = append(lines, fmt.Sprintf("%-5s  %s%s%s", verdictWord(f.Verdict), f.Command, inside, by(f)))
	}
	switch last := verdictWord(e.Verdict) + by(e.Finding); {
	case e.Class != "":
		lines = append(lines, fmt.Sprintf("together (%s): %s", e.Class, last))
	default:
		lines = append(lines, last)
	}
	if e.Class != "" && why != "" {
		lines = append(lines, "it is "+e.Class+", not plain: "+why)
	}
	if e.Reason != "" {
		lines = append(lines, "the model would be told: "+e.Reason)
	}
	if err := w.lines(lines); err != nil || about == nil {
		return err
	}
	if err := w.line("rules about it, the strongest first:"); err != nil {
		return err
	}
	return w.rules(about)
}

// by says what decides, in words that follow a verdict.
func by(f policy.Finding) string {
	switch {
	case f.Rule == nil && f.Why == "":
		return ", by no rule"
	case f.Rule == nil:
		return ": " + f.Why
	case f.Why != "":
		return ", by " + f.Rule.Where() + "; " + f.Why
	}
	return ", by " + f.Rule.Where()
}

type policyRevoke struct {
	Place string `arg:"" optional:"" help:"FILE:LINE, as it is listed."`
}

// Run takes a rule out of its file.
func (c *policyRevoke) Run(w *World) error {
	_, p, err := w.Project.Toolset()
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(p.Rules(), func(r policy.Rule) bool { return !r.Kept() || r.Line == 0 })
	if c.Place == "" {
		switch {
		case w.JSON:
			return w.document(map[string]any{"rules": shownRules(kept)})
		case len(kept) == 0:
			return w.line("you have kept nothing with always")
		}
		return w.rules(kept)
	}
	i := slices.IndexFunc(kept, func(r policy.Rule) bool { return r.Where() == c.Place })
	if i < 0 {
		return &settings.UsageError{Message: fmt.Sprintf("you have kept no rule with always at %s; gemline policy revoke lists them", shorten(c.Place))}
	}
	was, err := policy.Revoke(kept[i].File, kept[i].Line)
	if err != nil {
		return err
	}
	if w.JSON {
		return w.document(map[string]any{"revoked": shownRule(&kept[i])})
	}
	return w.lines(append([]string{"taken back, from the next start on:"}, strings.Split(was, "\n")...))
}
