package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
)

// A Ruling is the decision of the rules on a call, or on one of its commands.
type Ruling struct {
	Command string // the command line; empty for the call as a whole
	Inside  string // the program that runs the command, if not the shell
	Verdict engine.Verdict
	Rule    *Rule  // the deciding rule; nil if none matches
	Why     string // the reason, if it is not the rule alone
}

// An Explanation is a judgement with its reasons.
type Explanation struct {
	Ruling            // about the call
	Commands []Ruling // of a shell command, in order
	Class    string   // of a shell command: plain, readable or opaque
	Reason   string   // the reason of a denial, for the model
}

// Judge implements [engine.Policy].
func (p *Policy) Judge(_ context.Context, q engine.Proposal) (engine.Verdict, engine.Reason) {
	return p.Explain(q).verdict()
}

// verdict returns e for the engine.
func (e Explanation) verdict() (engine.Verdict, engine.Reason) {
	reason := engine.Reason{Text: e.Reason}
	if r := e.Rule; r != nil && e.Verdict == engine.Deny {
		reason.Rule = &engine.Rule{File: r.Origin.File, Line: r.Origin.Line, Tier: r.Tier.String(), About: r.About()}
	}
	return e.Verdict, reason
}

// Explain judges a call and says why.
func (p *Policy) Explain(q engine.Proposal) Explanation {
	p = p.WithUnattended(p.Unattended) // a copy, so that the judgement holds no lock
	u := p.ask(q)
	var e Explanation
	if runs(q) {
		e = p.script(u)
	} else {
		e.Ruling = p.decide(&u)
	}
	if q.Intent.Secret != "" && e.Verdict == engine.Allow && u.mode != Yolo && !e.Rule.namesSecret(&u) {
		e.Ruling = Ruling{Why: q.Intent.Secret + " may hold secrets"}
	}
	if e.Verdict == engine.Ask && p.grantedBefore(q, e.Rule) {
		e.Verdict, e.Why = engine.Allow, "you said always, for this session"
	}
	if e.Verdict == engine.Deny {
		subject := q.Tool.Name()
		if agent, _ := q.Args["agent_name"].(string); subject == invokeAgent && e.Rule != nil && slices.Contains(e.Rule.Tools, agent) {
			subject = agent
		}
		e.Reason = e.reason(subject)
	}
	return e
}

// namesSecret reports whether a rule of the user allows calls by their arguments and names the
// file that may hold secrets. A rule that also allows the call for another file of the directory
// does not name the file.
func (r *Rule) namesSecret(u *question) bool {
	if r == nil || !r.Tier.deniesFirst() || r.Args == nil {
		return false
	}
	u.encode()
	name, given := pathOf(u.Args)
	exact, _ := u.spellings(given)
	return !slices.ContainsFunc(exact, func(path string) bool {
		dir := path[:strings.LastIndexAny(strings.TrimRight(path, `/\`), `/\`)+1]
		return r.Args.MatchString(canonical(with(u.known, name, dir+"x")))
	})
}

// decide finds the deciding rule. Denials of the user and of the administrator come first, except
// for default denials, see [Rule.byDefault]. Then the strongest rule decides, and finally rules of
// projects and extensions may narrow its verdict.
//
// In plan mode only rules that deny apply to calls that may change anything but plans.
func (p *Policy) decide(u *question) Ruling { return decide(p.about(u), u) }

// about returns the rules that may apply to a call and to each of its commands.
func (p *Policy) about(u *question) (list []*Rule) {
	for i := range p.rules {
		if r := &p.rules[i]; r.coversRights(u.Intent.Plan.Rights) && r.concerns(u) {
			list = append(list, r)
		}
	}
	return list
}

// decide is [Policy.decide] for the rules that may apply to u.
func decide(rules []*Rule, u *question) Ruling {
	look := u.mode != Plan || readOnlyKind(u.Tool.Kind) || u.plans || u.safe()
	return strongest(rules, func(r *Rule) bool { return (look || r.Verdict == engine.Deny) && r.fits(u) })
}

// strongest returns the decision of the rules for which counts is true. Without such a rule, the
// user is asked.
func strongest(rules []*Rule, counts func(*Rule) bool) Ruling {
	var deny, base, narrow *Rule
	for _, r := range rules {
		switch {
		case !counts(r):
		case r.Verdict == engine.Deny && r.Tier.deniesFirst() && !r.byDefault():
			deny = stronger(deny, r)
		case r.Tier.narrows():
			narrow = stricter(narrow, r)
		default:
			base = stronger(base, r)
		}
	}
	if deny != nil {
		return Ruling{Verdict: engine.Deny, Rule: deny}
	}
	f := Ruling{Verdict: engine.Ask, Rule: base}
	if base != nil {
		f.Verdict = base.Verdict
	}
	if narrow != nil && strictness(narrow.Verdict) > strictness(f.Verdict) {
		f = Ruling{Verdict: narrow.Verdict, Rule: narrow}
	}
	return f
}

// script judges a call of the shell. The call runs unasked if each of its commands may and it can
// run no other command. It is denied if a command is, or may be, denied.
func (p *Policy) script(u question) Explanation {
	e := Explanation{Class: u.Intent.Plan.Class.String()}
	rules := p.about(&u)
	whole := decide(rules, &u)
	worst := whole
	unknown := u.Intent.Plan.Class == engine.Opaque || slices.ContainsFunc(u.Intent.Plan.Commands, func(c engine.Command) bool {
		_, known := c.Program()
		return !known
	})
	byDefault := whole.Rule != nil && whole.Rule.byDefault() // unless a rule about commands says otherwise
	if len(u.Intent.Plan.Commands) > 0 && (whole.Verdict != engine.Deny || byDefault && !unknown) {
		worst = Ruling{Verdict: engine.Allow}
	}
	harmless := false // of the worst verdict so far
	if r := whole.Rule; r != nil && r.Args != nil && strictness(whole.Verdict) > strictness(worst.Verdict) {
		worst = whole
	}
	for i := range u.Intent.Plan.Commands {
		c := &u.Intent.Plan.Commands[i]
		v := u.about(c)
		f := decide(rules, &v)
		f.Command, f.Inside = c.Line(), c.Wrapper
		f.Why = v.safety(f)
		e.Commands = append(e.Commands, f)
		more := strictness(f.Verdict) - strictness(worst.Verdict)
		if more > 0 || more == 0 && (worst.Rule == nil || harmless && !c.Safe) {
			worst, harmless = f, c.Safe
		}
	}
	e.Ruling = worst
	if e.Verdict == engine.Allow {
		e.Why = ""
		if u.safe() && !slices.ContainsFunc(e.Commands, func(f Ruling) bool { return f.Rule == nil || !f.Rule.Commands.Safe }) {
			e.Why = "every command is read-only, and is confined to reading"
		}
	}
	e.Ruling.Command, e.Ruling.Inside = "", ""
	if e.Verdict == engine.Deny {
		return e
	}
	if unknown {
		if r := p.mayMean(engine.Deny, &u); r != nil {
			e.Ruling = Ruling{Verdict: engine.Deny, Rule: r,
				Why: "this may run a program that was not checked" + because(u.Intent.Plan.Why) +
					", and there is a rule that denies commands"}
			return e
		}
	}
	undoable := whole.Rule != nil && whole.Rule.Commands.Revertible && whole.Verdict == engine.Allow
	if r := p.mayMean(engine.Ask, &u); undoable && unknown && r != nil && e.Verdict == engine.Allow {
		e.Ruling = Ruling{Rule: r, Why: "this may run a program that was not checked" +
			because(u.Intent.Plan.Why) + ", and there is a rule that asks about commands"}
	}
	if e.Verdict == engine.Allow && u.Intent.Plan.Class != engine.Plain && !u.Intent.Plan.IsReadOnly &&
		u.mode != Yolo && !undoable {
		e.Verdict, e.Why = engine.Ask, fmt.Sprintf("only plain commands run unasked, and this one %s%s", ClassReason(u.Intent.Plan.Class), because(u.Intent.Plan.Why))
	}
	return e
}

// safety explains how the safety of a command affects a decision of the built-in rules.
func (u *question) safety(f Ruling) string {
	c := u.command
	switch r := f.Rule; {
	case r == nil || r.Tier != BuiltIn || u.mode == Yolo:
		return f.Why
	case !c.Safe && c.Risk != "":
		return "it is not known to only look" + because(c.Risk)
	case u.Intent.Plan.Class != engine.Plain && !u.Intent.Plan.IsReadOnly:
		return f.Why
	case r.Commands.Safe && f.Verdict == engine.Allow:
		return "it is read-only, and is confined to reading"
	case c.Safe && !u.Intent.Plan.Confined:
		return "it is read-only, but nothing confines it"
	}
	return f.Why
}

// ClassReason says why a command line has a class other than plain.
func ClassReason(c engine.Class) string {
	if c == engine.Opaque {
		return "may run more than can be read in it"
	}
	return "is not plain"
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + oneLine(why) + ")"
}

// mayMean returns the strongest rule that denies, or asks about, some commands of the shell,
// except for rules about masked programs.
func (p *Policy) mayMean(v engine.Verdict, u *question) (found *Rule) {
	for i := range p.rules {
		r := &p.rules[i]
		if r.Verdict != v || !r.bounded() || !r.coversRights(u.Intent.Plan.Rights) || !r.concerns(u) {
			continue
		}
		spared := func(e Rule) bool { return !e.bounded() && e.concerns(u) }
		if !slices.ContainsFunc(r.except, spared) && !p.masked(r) {
			found = stronger(found, r)
		}
	}
	return found
}

// grantedBefore reports whether the user answered "always" to the call in this session. Only a
// stronger rule requires a question nevertheless.
func (p *Policy) grantedBefore(q engine.Proposal, by *Rule) bool {
	if by != nil && by.Tier.deniesFirst() && by.rank() > int(User)*1000+saved {
		return false
	}
	return slices.ContainsFunc(q.Intent.Grants, func(g engine.Grant) bool { return p.granted[key(g)] != Origin{} })
}

// reason tells the model why a call is denied, and by which rule.
func (e Explanation) reason(tool string) string {
	r := e.Rule
	if r == nil {
		return sentence(e.Why)
	}
	said := strings.ReplaceAll(r.Message, "{tool}", tool)
	if r.Tier == BuiltIn && said != "" {
		return said
	}
	what := tool
	for _, f := range e.Commands {
		if f.Rule == r && f.Verdict == engine.Deny {
			what = f.Command
			break
		}
	}
	var parts []string
	if e.Why != "" {
		parts = append(parts, sentence(e.Why))
	} else if said != "" {
		parts = append(parts, withStop(said))
	}
	parts = append(parts, r.reason(what))
	return strings.Join(parts, " ")
}

// withStop returns the user's text, with punctuation at the end.
func withStop(s string) string {
	if s = strings.TrimSpace(s); s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?:;") {
		s += "."
	}
	return s
}

// sentence returns s as a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// Offers implements [engine.Policy]. A tool is hidden if none of its calls could run.
func (p *Policy) Offers(t engine.Tool) bool {
	p = p.WithUnattended(p.Unattended)
	u := p.ask(engine.Proposal{Tool: t, Agent: t.Agent})
	look := u.mode != Plan || readOnlyKind(t.Kind)
	ruling := strongest(p.aboutAny(&u), func(r *Rule) bool {
		if r.Verdict == engine.Deny {
			return r.deniesAll(&u)
		}
		return look || r.Commands.Safe && p.confined() || t.Kind == engine.Edit && p.Plans != nil && !r.Commands.Safe
	})
	return ruling.Verdict != engine.Deny
}

// aboutAny is [Policy.about] for a tool without a call. A rule that allows calls counts for every
// agent that the tool calls and, in the user's conversation, for every agent that calls the tool.
func (p *Policy) aboutAny(u *question) (list []*Rule) {
	for i := range p.rules {
		r := &p.rules[i]
		any := *r
		if u.Agent == "" && r.Verdict != engine.Deny {
			any.When.Agent = ""
		}
		agents := u.Tool.Name() == invokeAgent && r.Verdict != engine.Deny && slices.ContainsFunc(r.Tools, agentName)
		if agents {
			any.Tools = []string{invokeAgent}
		}
		if any.concerns(u) {
			list = append(list, r)
		}
	}
	return list
}

// deniesAll reports whether a rule denies every call of a tool.
func (r *Rule) deniesAll(u *question) bool {
	bare := *r
	bare.except = nil
	return !bare.bounded() && !slices.ContainsFunc(r.except, func(e Rule) bool { return e.concerns(u) })
}

// confined reports whether commands that are safe may run in plan mode.
func (p *Policy) confined() bool { return p.Confined != nil && p.Confined() }

// RulesFor returns the rules that may apply to a tool in this mode, the strongest first.
func (p *Policy) RulesFor(t engine.Tool) []Rule {
	p = p.WithUnattended(p.Unattended)
	u := p.ask(engine.Proposal{Tool: t})
	return slices.DeleteFunc(p.Rules(), func(r Rule) bool { return !r.concerns(&u) })
}
