package tally

import (
	"time"

	"gemline/engine"
)

// An open holds unfinished requests and calls.
type open struct {
	requests map[string]*request      // by conversation
	allowed  map[string]bool          // calls that may run
	serving  map[string]string        // the agents inside of calls
	within   map[string]string        // the calls that enclose agents, by agent and id of the agent's call
	waited   map[string]time.Duration // how long agents have waited for answers inside of calls
}

// A request is a sent request whose outcome is not known yet.
type request struct {
	in       scope
	model    string
	role     string
	at       time.Time
	repeated bool // it repeats a failed request
}

// pause subtracts the time of a question from the open request, or from the call of the agent
// that asks.
func (o *open) pause(p engine.Proposal, d time.Duration) {
	if p.Agent != "" {
		inside := o.within[p.Agent+"/"+p.ID]
		put(&o.waited, inside, o.waited[inside]+d)
	} else if p := o.requests[""]; p != nil {
		p.at = p.at.Add(d)
	}
}

// put sets a value in a map that may be nil.
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
