package engine

import (
	"context"
	"errors"
)

// A Proposal is a prepared call that waits for a verdict.
type Proposal struct {
	ID        string // the call's, as in its events
	Tool      Tool
	Agent     string // whose call it is; empty for the model that the user talks to
	AgentCall string // the id of the call that runs the agent
	Args      map[string]any
	Intent    Intent
}

// A Verdict is the policy's decision on a Proposal. The zero Verdict asks.
type Verdict int

// The verdicts.
const (
	Ask Verdict = iota
	Allow
	Deny
)

// A Policy judges proposals and learns from the user's answers. It must be safe for
// concurrent use, since agents share it.
type Policy interface {
	// Offers reports whether the model is told about t. A call of a hidden tool is judged, too.
	Offers(t Tool) bool

	// Judge returns a verdict and, for Deny, the reason. It may wait for another program.
	Judge(ctx context.Context, p Proposal) (Verdict, Reason)

	// Learn remembers that the user allows the calls that g covers.
	Learn(g Grant, s Scope) error
}

// A Reason is why a call is denied.
type Reason struct {
	Text string // for the model
	Rule *Rule  // the rule; nil if no rule decided
}

// A Rule is what denied a call, as a Policy names its rules.
type Rule struct {
	File  string `json:"file"`           // the file's name, for messages
	Line  int    `json:"line,omitempty"` // 0 if File is no file of rules
	Tier  string `json:"tier"`           // the rule's origin, such as "user"
	About string `json:"about"`          // its subject, on one line
}

// A Grant is a possible meaning of "always". It is compared as a whole: a call is covered if an
// equal grant was learned before.
type Grant struct {
	Label  string // how the user is offered it, such as "always for main.go"
	Tool   string // name of the tool
	Target string // a command or a path; empty for any
	Names  string // the name of the argument with the target, if a rule can match it; else empty

	// Rule is the text of the rule that would store the grant beyond the session; empty if it
	// can't be stored. A ProjectOnly grant means nothing outside of the project, and a
	// SessionOnly grant is not stored in this run.
	Rule                     string
	ProjectOnly, SessionOnly bool
}

// Scope is how long a grant holds. The zero Scope is the shortest.
type Scope int

// The scopes.
const (
	Once Scope = iota
	Session
	InProject
	Everywhere
)

// An Approver settles what the policy leaves open, usually by asking the user,
// and puts the questions of calls to the user. It is only ever called on the
// goroutine that ranges over the outermost Run. An error ends the Run.
type Approver interface {
	Approve(ctx context.Context, p Proposal) (Answer, error)
}

// An Answer is an Approver's decision. It is one of [Allowed], [Refused],
// [Changed], [Unasked] or [Replied]; nil refuses.
type Answer interface{ answer() }

type (
	// Allowed lets the call run.
	Allowed struct {
		Scope Scope // how long the permission holds
		Grant Grant // the calls that it covers, if longer than Once
	}

	// Refused keeps the call from running.
	Refused struct {
		Note string // what the user said about it, for the model; may be empty
	}

	// Changed replaces the arguments. The call is judged again, and asked
	// about again unless the user has agreed to it.
	Changed struct {
		Args   map[string]any
		Agreed bool
	}

	// Unasked keeps the call from running, since nobody could be asked.
	Unasked struct {
		Advice string // the setting that would allow it
		Rule   *Rule  // the rule because of which nobody was asked; may be nil
	}

	// Replied answers the Intent's Questions.
	Replied struct {
		Replies []string // one per question, empty where the user said nothing
	}
)

func (Allowed) answer() {}
func (Refused) answer() {}
func (Changed) answer() {}
func (Unasked) answer() {}
func (Replied) answer() {}

// ErrRefused is wrapped by the error of a call that the user refused.
var ErrRefused = errors.New("refused")

// A refusal is the error of a refused call; the model reads its text.
type refusal struct{ note string }

func (r refusal) Error() string {
	s := "[Operation Cancelled] Reason: User denied execution."
	if r.note != "" {
		s += " The user said: " + r.note
	}
	return s
}

func (refusal) Unwrap() error { return ErrRefused }
