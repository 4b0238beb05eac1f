package tally

import (
	"errors"

	"gemline/engine"
)

// A counts holds the sums of finished requests and calls.
type counts struct {
	models  list[model]
	tools   list[tool]
	agents  list[agent]
	all     tool
	asked   int // calls the user was asked about
	added   int
	removed int
	files   map[string]bool
}

// Add adds the counts of o, a finished session, except for the counts of its prompt.
func (t *Tally) Add(o *Tally) { t.counts.add(&o.counts, t.Cost != nil) }

// add adds the counts of o, with the single requests if cost is set.
func (c *counts) add(o *counts, cost bool) {
	for i, name := range o.models.keys {
		m, from := c.models.at(name), o.models.values[i]
		m.all.plus(&from.all)
		for j, class := range from.ByType.keys {
			*m.ByType.at(class) += *from.ByType.values[j]
		}
		for j, what := range from.Roles.keys {
			m.Roles.at(what).plus(from.Roles.values[j])
		}
		if cost { // otherwise single requests are not needed
			m.used = append(m.used, from.used...)
		}
	}
	for i, name := range o.tools.keys {
		c.tools.at(name).plus(o.tools.values[i])
	}
	c.all.plus(&o.all)
	for i, name := range o.agents.keys {
		a, from := c.agents.at(name), o.agents.values[i]
		a.all.plus(&from.all)
		a.Runs, a.Failed, a.Took = a.Runs+from.Runs, a.Failed+from.Failed, a.Took+from.Took
		a.Calls, a.CallsFailed = a.Calls+from.Calls, a.CallsFailed+from.CallsFailed
	}
	c.asked, c.added, c.removed = c.asked+o.asked, c.added+o.added, c.removed+o.removed
	for path := range o.files {
		put(&c.files, path, true)
	}
}

// of returns the counts to which a request of a model adds.
func (c *counts) of(in scope, m *model, what string) []*role {
	all := []*role{&m.all, m.Roles.at(what)}
	if in.agent != "" {
		all = append(all, &c.agents.at(in.agent).all)
	}
	return all
}

// finished counts a call that is over, and that was allowed or not.
func (c *counts) finished(ev engine.CallFinished, allowed bool) {
	for _, one := range []*tool{c.tools.at(ev.Name), &c.all} {
		one.Count++
		one.Took += millis(ev.Took)
		if ev.Err == nil {
			one.Success++
		} else {
			one.Fail++
		}
		switch { // a call that failed before its judgement has no decision
		case errors.Is(ev.Err, engine.ErrRefused):
			one.Decisions.Reject++
		case allowed:
			one.Decisions.Accept++
		}
	}
	if ev.Asked {
		c.asked++
	}
	for _, change := range ev.Result.Changes {
		c.added += change.Added
		c.removed += change.Removed
		put(&c.files, change.Path, true)
	}
}

// tokens returns the tokens of all requests.
func (c *counts) tokens() (sum tokens) {
	for _, m := range c.models.values {
		sum = sum.plus(m.all.Tokens)
	}
	return sum
}

func (r *role) plus(o *role) {
	r.Requests, r.Errors, r.Latency = r.Requests+o.Requests, r.Errors+o.Errors, r.Latency+o.Latency
	r.Tokens = r.Tokens.plus(o.Tokens)
}

func (c *tool) plus(o *tool) {
	c.Count, c.Success, c.Fail, c.Took = c.Count+o.Count, c.Success+o.Success, c.Fail+o.Fail, c.Took+o.Took
	d, p := &c.Decisions, o.Decisions
	d.Accept, d.Reject, d.Modify, d.AutoAccept = d.Accept+p.Accept, d.Reject+p.Reject, d.Modify+p.Modify, d.AutoAccept+p.AutoAccept
}
