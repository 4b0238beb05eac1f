package policy

import (
	"fmt"
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
)

// Denied is a program that a rule denies with all arguments.
type Denied struct {
	Program string
	Rule    Rule
}

// Reason returns the reason for the model.
func (d Denied) Reason() string { return d.Rule.reason(d.Program) }

// DeniedPrograms returns the names in denied.
func DeniedPrograms(denied []Denied) (names []string) {
	for _, d := range denied {
		names = append(names, d.Program)
	}
	return names
}

// Denied returns the programs that rules deny to the shell as a whole, in this mode,
// each with the rule that decides.
func (p *Policy) Denied() (all []Denied) {
	p = p.WithUnattended(p.Unattended)
	u := p.ask(engine.Proposal{Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: Shell}, Kind: engine.Execute}})
	for i := range p.rules {
		r := &p.rules[i]
		if r.Tier == BuiltIn || r.Verdict != engine.Deny || r.Network || r.except != nil || !r.concerns(&u) {
			continue
		}
		for _, name := range r.programs() {
			same := func(d Denied) bool { return d.Program == name }
			if at := slices.IndexFunc(all, same); at < 0 {
				all = append(all, Denied{name, *r})
			} else if stronger(&all[at].Rule, r) == r {
				all[at].Rule = *r
			}
		}
	}
	return all
}

// programs returns the programs to which r applies with all arguments.
func (r *Rule) programs() (names []string) {
	for _, prefix := range r.Commands.Prefixes {
		if name := base(prefix[0]); len(prefix) == 1 && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// masked reports whether commands can't see the programs that r denies, so that no command must
// be denied on suspicion.
func (p *Policy) masked(r *Rule) bool {
	if p.Masked == nil || r.Commands.Prefixes == nil {
		return false
	}
	denied := p.Denied()
	var names []string
	for _, prefix := range r.Commands.Prefixes {
		name := base(prefix[0])
		if !slices.ContainsFunc(denied, func(d Denied) bool { return d.Program == name }) {
			return false // another rule may apply to some calls only
		}
		names = append(names, name)
	}
	return p.Masked(names)
}

// reason returns the reason of a denial by r, for the model.
func (r *Rule) reason(what string) string {
	return fmt.Sprintf("The rule at %s (%s tier) denies %s; only the user can change it.",
		oneLine(r.Where()), r.Tier, quoted(what))
}
