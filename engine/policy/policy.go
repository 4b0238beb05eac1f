// Package policy judges what the model wants to do: which calls run unasked,
// which are asked about, and which are denied.
//
// # Never wider than asked for
//
// An approval mode and what the user granted in this session are all that
// allows a call. A tool of an unknown kind is always asked about, and in plan
// mode no grant lets a call change anything.
package policy

import (
	"fmt"
	"sync"

	"gemline/engine"
)

// A Mode says how much runs without a question. The values are those of the
// --approval-mode flag.
type Mode string

// The modes, from the most careful.
const (
	Plan     Mode = "plan"      // look, don't touch
	Default  Mode = "default"   // ask before every change
	AutoEdit Mode = "auto_edit" // edit files unasked
	Yolo     Mode = "yolo"      // run everything unasked
)

// Modes lists the modes in the order that help shows them.
var Modes = [...]Mode{Default, AutoEdit, Yolo, Plan}

// A Policy is one session's judgement. It is safe for concurrent use.
type Policy struct {
	// Unattended says that there is no user, so that no tool may ask one.
	// It is set before the Policy is used.
	Unattended bool

	mu      sync.Mutex
	mode    Mode
	granted map[engine.Grant]bool
}

// New returns a Policy that has granted nothing yet.
func New(mode Mode) *Policy {
	return &Policy{mode: mode, granted: map[engine.Grant]bool{}}
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
	p.mode = m
}

// Offers implements [engine.Policy].
func (p *Policy) Offers(t engine.Tool) bool {
	if t.Kind == engine.Converse && p.Unattended {
		return false
	}
	return p.Mode() != Plan || looks(t.Kind)
}

// Judge implements [engine.Policy].
func (p *Policy) Judge(q engine.Proposal) (engine.Verdict, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := q.Tool.Kind
	if kind == engine.Converse && p.Unattended {
		return engine.Deny, fmt.Sprintf("Nobody is there to answer %s: it works in a session at a terminal only. "+
			"Take what is most likely meant, and say so.", q.Tool.Name())
	}
	switch p.mode {
	case Plan:
		if looks(kind) {
			return engine.Allow, ""
		}
		return engine.Deny, fmt.Sprintf("Plan mode is read-only, and %s changes things. Describe the change instead; "+
			"the user can leave plan mode with --approval-mode default.", q.Tool.Name())
	case Yolo:
		return engine.Allow, ""
	case AutoEdit:
		if kind == engine.Edit || kind == engine.Fetch {
			return engine.Allow, ""
		}
	}
	if looks(kind) {
		return engine.Allow, ""
	}
	for _, g := range q.Intent.Grants {
		if p.granted[key(g)] {
			return engine.Allow, ""
		}
	}
	return engine.Ask, ""
}

// looks reports whether calls of a kind only look at the workspace, or not
// even that. A question to the user needs no other question before it.
func looks(k engine.Kind) bool {
	return k == engine.Read || k == engine.Search || k == engine.Think || k == engine.Converse
}

// Learn implements [engine.Policy]. A grant that names no tool covers nothing.
func (p *Policy) Learn(g engine.Grant, s engine.Scope) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == engine.Session && g.Tool != "" {
		p.granted[key(g)] = true
	}
	return nil
}

// key is what grants are compared by: how one is offered does not matter.
func key(g engine.Grant) engine.Grant {
	g.Label = ""
	return g
}
