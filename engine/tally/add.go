package tally

// Add adds the counts of o, which must be over, except for the counts of its prompt.
func (t *Tally) Add(o *Tally) {
	for i, name := range o.models.keys {
		m, from := t.models.at(name), o.models.values[i]
		m.all.plus(&from.all)
		for j, class := range from.ByType.keys {
			*m.ByType.at(class) += *from.ByType.values[j]
		}
		for j, what := range from.Roles.keys {
			m.Roles.at(what).plus(from.Roles.values[j])
		}
		if t.Cost != nil { // else nobody asks for single requests
			m.used = append(m.used, from.used...)
		}
	}
	for i, name := range o.tools.keys {
		t.tools.at(name).plus(o.tools.values[i])
	}
	t.all.plus(&o.all)
	for i, name := range o.agents.keys {
		a, from := t.agents.at(name), o.agents.values[i]
		a.all.plus(&from.all)
		a.Runs, a.Failed, a.Took = a.Runs+from.Runs, a.Failed+from.Failed, a.Took+from.Took
		a.Calls, a.CallsFailed = a.Calls+from.Calls, a.CallsFailed+from.CallsFailed
	}
	t.asked, t.added, t.removed = t.asked+o.asked, t.added+o.added, t.removed+o.removed
	for path := range o.files {
		insert(&t.files, path)
	}
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
