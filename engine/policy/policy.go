// Package policy judges the model's calls: a call runs unasked, needs approval, or is
// denied.
//
// The strongest of the rules that match a call decides. Rules are built in, or come from files
// ([Load]), from settings ([Lists]) and from answers with "always" ([Policy.Learn]). Approval
// modes are rules, too. A first caller makes a [Policy] with [New] and wraps it with [Guard].
//
// # Denials come first
//
// A denial of the user or the administrator that names its subject holds in every mode, whatever
// else allows the call. A denial with a wildcard is a default: a rule of a higher priority, in
// the same or a stronger tier, makes an exception. Rules of projects and extensions can only ask
// and deny. In plan mode no rule lets a call change anything but a plan.
//
// # Allowing requires an exact match
//
// A rule that allows must match a call exactly. A rule that asks or denies matches every call
// that it may be meant for.
//
// # Words are judged, not texts
//
// A rule about commands is compared with the words of each command that would run, never with the
// text of a script.
//
// # Malformed rules are strict
//
// A malformed rule allows nothing, or denies more than intended, with a warning that names its
// place. The denials of a file that is no valid TOML are unknown, so every call is asked about.
//
// # The model can't change the rules
//
// Edits of files that steer later conversations, such as gemline's own configuration, need
// approval even if rules allow them ([Guard]).
package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"gemline/engine"
)

// A Mode says which calls run without a question. The values are those of the --approval-mode
// flag.
type Mode string

// The modes, from the most careful.
const (
	Plan     Mode = "plan"      // look, don't touch
	Default  Mode = "default"   // ask before every change
	AutoEdit Mode = "auto_edit" // edit files unasked
	Auto     Mode = "auto"      // run unasked if confined and undoable
	Yolo     Mode = "yolo"      // run everything unasked
)

// Modes lists the modes in the order that help shows them.
var Modes = [...]Mode{Default, AutoEdit, Auto, Plan, Yolo}

// A Policy judges the calls of a session. It is safe for concurrent use.
type Policy struct {
	// Unattended says that no user is present, and no tool may ask questions. It is set
	// before the Policy is used.
	Unattended bool

	// Confined reports whether commands run confined, so that some commands may run in plan
	// mode. Nil means that they don't. It is set before the Policy is used.
	Confined func() bool

	// Plans reports whether an absolute path is a plan's: no other file may be written in
	// plan mode. Nil means that no path is. It is set before the Policy is used.
	Plans func(path string) bool

	// Roots returns the directories of the workspace, first the base of relative paths. Nil means
	// that there are none. It is set before the Policy is used.
	Roots func() []string

	// Masked reports whether commands can run none of the programs, under any spelling. If it is
	// nil, commands can run programs. It is set before the Policy is used.
	Masked func(programs []string) bool

	// Store stores rules from answers "always". It is set before the Policy is used.
	Store Store

	mu      sync.Mutex
	mode    Mode
	before  Mode // from which plan mode was entered
	rules   []Rule
	granted map[engine.Grant]Origin // the place of each grant in lists
	answers int                     // the number of grants in the session
}

// New returns a Policy with the built-in rules and others, and without grants. The order of the
// rules does not matter.
func New(mode Mode, others ...Rule) *Policy {
	return &Policy{mode: mode, rules: append(defaultRules(), others...), granted: map[engine.Grant]Origin{}}
}

// WithUnattended returns a copy of p that judges with or without a user present.
func (p *Policy) WithUnattended(unattended bool) *Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Policy{Unattended: unattended, Confined: p.Confined, Plans: p.Plans, Roots: p.Roots, Masked: p.Masked,
		Store: p.Store, mode: p.mode, before: p.before, rules: p.rules, granted: maps.Clone(p.granted), answers: p.answers}
}

// Rules returns the rules and the grants of the session, the strongest first, and of equals the stricter.
func (p *Policy) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := slices.Clone(p.rules)
	for g, o := range p.granted {
		if o.File == thisSession {
			list = append(list, Rule{Tier: User, Origin: o, Tools: []string{g.Tool}, Verdict: engine.Allow, Priority: saved,
				Target: strings.ReplaceAll(g.Target, "\x00", ": ")})
		}
	}
	slices.SortFunc(list[len(p.rules):], func(a, b Rule) int { return cmp.Compare(a.Origin.Line, b.Origin.Line) })
	slices.SortStableFunc(list, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.rank(), a.rank()), cmp.Compare(strictness(b.Verdict), strictness(a.Verdict)))
	})
	return list
}

// Mode returns the mode in force.
func (p *Policy) Mode() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// SetMode changes the mode for the calls to come.
func (p *Policy) SetMode(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m == Plan && p.mode != Plan {
		p.before = p.mode
	}
	p.mode = m
}

// PreviousMode returns the mode before plan mode, "" if plan mode was on from the start or never.
func (p *Policy) PreviousMode() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.before
}

// readOnlyKind reports whether calls of a kind are read-only. A question to the user is, too,
// since it needs no approval.
func readOnlyKind(k engine.Kind) bool {
	return k == engine.Read || k == engine.Search || k == engine.Think || k == engine.AskUser ||
		k == engine.Planning || k == engine.Query
}

// key returns the part of a grant that counts in comparisons, without its label and rule.
func key(g engine.Grant) engine.Grant {
	g.Label, g.Rule, g.Names, g.ProjectOnly, g.SessionOnly = "", "", "", false, false
	return g
}
