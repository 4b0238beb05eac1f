package tally

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// A Tally counts the events of a session. The zero Tally is ready for use. It
// must not be used concurrently.
type Tally struct {
	// Class names the class of a failed request, for the counts by type.
	// If it is nil, every failure is of the class "unknown".
	//
	// "" is the class of a request that was refused before it was sent and is not counted.
	Class func(error) string

	// Cost, if not nil, returns the cost of a request in US dollars, and the day of its
	// price, if known. It is called when the counts are read.
	Cost func(engine.Usage) (usd float64, date string, ok bool)

	began   time.Time
	models  list[model]
	tools   list[tool]
	agents  list[agent]
	serving map[string]string        // the agents inside of calls that are not over
	within  map[string]string        // the calls that enclose agents, by agent and id of the agent's call
	waited  map[string]time.Duration // how long agents have waited for answers inside of calls that are not over
	all     tool
	asked   int // calls the user was asked about
	added   int
	removed int
	files   map[string]bool
	pending map[string]*request // by conversation
	allowed map[string]bool     // calls that may run but are not over
	check   *Check
	span    Span
	start   time.Time     // of span
	idle    time.Duration // of span, while the user was asked
	changed map[string]bool
	used    []engine.Usage // of span
	part    *Tally         // counts the same; nil if there is none
}

// Begin has part count what t counts from now on, in the place of the part before.
func (t *Tally) Begin(part *Tally) { t.part = part }

// A Check is how the last check of the work went.
type Check struct {
	Command string `json:"command"`
	Rounds  int    `json:"rounds"`    // of checks that there were
	Code    int    `json:"exit_code"` // of the last one
	OK      bool   `json:"ok"`
}

// Checked returns how the last check went, nil if nothing was checked.
func (t *Tally) Checked() *Check { return t.check }

// Changed sets the number of files that the prompt has changed, if the caller knows it better
// than from the tools' results.
func (t *Tally) Changed(files int) { t.span.Files = files }

// A request is a sent request whose outcome is not known yet.
type request struct {
	in    scope
	model string
	role  string
	at    time.Time
	again bool // it repeats a failed request
}

// Start begins the counts of a prompt, which [Tally.Span] returns.
func (t *Tally) Start(now time.Time) {
	t.begin(now)
	t.span, t.start, t.changed, t.used, t.idle = Span{}, now, nil, nil, 0
	if t.part != nil {
		t.part.Start(now)
	}
}

func (t *Tally) begin(now time.Time) {
	if t.began.IsZero() {
		t.began = now
	}
}

// Observe counts ev, which was seen at now.
func (t *Tally) Observe(ev engine.Event, now time.Time) {
	if t.part != nil {
		t.part.Observe(ev, now)
	}
	t.begin(now)
	t.observe(scope{}, ev, now)
}

// observe counts an event of the conversation in.
func (t *Tally) observe(in scope, ev engine.Event, now time.Time) {
	switch ev := ev.(type) {
	case engine.Nested:
		at := in.inside(ev)
		if t.serving == nil {
			t.serving = map[string]string{}
		}
		t.serving[at.calls] = ev.Agent
		t.observe(at, ev.Event, now)
	case engine.Requested:
		t.settle(in.calls, now)
		if t.pending == nil {
			t.pending = map[string]*request{}
		}
		t.pending[in.calls] = &request{in: in, model: ev.Model, role: in.role(), at: now}
	case engine.Retry:
		t.retry(in, ev, now)
	case engine.Usage:
		t.usage(in, ev, now)
	case engine.Called:
		t.settle(in.calls, now)
		if in.agent != "" {
			if t.within == nil {
				t.within = map[string]string{}
			}
			t.within[in.agent+"/"+ev.ID] = in.calls
		}
	case engine.State:
		if ev.State == engine.Scheduled {
			insert(&t.allowed, in.calls+ev.ID)
		}
	case engine.Checked:
		t.check = &Check{Command: ev.Command, Rounds: ev.Round, Code: ev.Code, OK: ev.Err == nil}
		t.span.Check = "ok"
		if ev.Err != nil {
			t.span.Check = engine.DisplayError(ev.Err)
		}
		if ev.Round > 1 {
			t.span.Check += " in round " + text.Number(ev.Round)
		}
	case engine.Finished:
		inside := in.calls + ev.ID + "/"
		t.end(inside, ev.Err, now)
		ev.Took = max(0, ev.Took-t.waited[inside]) // while an agent asked, it did nothing
		delete(t.waited, inside)
		delete(t.within, in.agent+"/"+ev.ID)
		t.finished(in, ev)
	}
}

// End closes the count of a Run that ended at now with err, or with nil.
func (t *Tally) End(err error, now time.Time) {
	if t.part != nil {
		t.part.End(err, now)
	}
	t.end("", err, now)
}

// end closes the count of the conversation in.
func (t *Tally) end(in string, err error, now time.Time) {
	p := t.pending[in]
	if p == nil || err == nil || errors.Is(err, engine.ErrMaxTurns) {
		t.settle(in, now)
		return
	}
	delete(t.pending, in)
	t.fail(p, err, now)
}

// settle counts a request that was answered without a word on its tokens.
func (t *Tally) settle(in string, now time.Time) {
	if p := t.pending[in]; p != nil {
		delete(t.pending, in)
		for _, r := range t.counts(p.in, t.models.at(p.model), p.role) {
			r.add(elapsed(p.at, now), false)
		}
	}
}

// Asking returns an Approver that asks a, and keeps the time until the answer out of the
// times of requests. Nil asks nobody.
func (t *Tally) Asking(a engine.Approver) engine.Approver {
	if a == nil {
		return nil
	}
	return asking{a, t}
}

type asking struct {
	engine.Approver
	tally *Tally
}

// Approve implements [engine.Approver].
func (a asking) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	start := time.Now()
	defer func() { a.tally.pause(p, time.Since(start)) }()
	return a.Approver.Approve(ctx, p)
}

// pause has a request that is open count less time, and the call inside of which an agent
// asks.
func (t *Tally) pause(p engine.Proposal, d time.Duration) {
	t.idle += d
	if t.part != nil {
		t.part.pause(p, d)
	}
	if p.Agent != "" {
		if t.waited == nil {
			t.waited = map[string]time.Duration{}
		}
		t.waited[t.within[p.Agent+"/"+p.ID]] += d
		return
	}
	if p := t.pending[""]; p != nil {
		p.at = p.at.Add(d)
	}
}

func (t *Tally) fail(p *request, err error, now time.Time) {
	class := "unknown"
	if t.Class != nil {
		class = t.Class(err)
	}
	if class == "" {
		return
	}
	m := t.models.at(p.model)
	for _, r := range t.counts(p.in, m, p.role) {
		r.add(elapsed(p.at, now), true)
	}
	*m.ByType.at(class)++
}

func (t *Tally) retry(in scope, ev engine.Retry, now time.Time) {
	if p := t.pending[in.calls]; p != nil {
		t.fail(p, ev.Err, now)
		p.at, p.again = now.Add(ev.Delay), true
		p.model = cmp.Or(ev.Model, p.model)
	}
}

func (t *Tally) usage(in scope, ev engine.Usage, now time.Time) {
	if ev.Err != nil {
		t.fail(&request{in: in, model: ev.Model, role: cmp.Or(ev.Role, in.role()), at: now.Add(-ev.Took)}, ev.Err, now)
		return
	}
	took := ev.Took
	if ev.Role == "" { // else the conversation's own request is still open
		if p := t.pending[in.calls]; p != nil && p.again {
			took = elapsed(p.at, now) // Took includes the attempts that failed
		}
		delete(t.pending, in.calls)
	}
	m := t.models.at(ev.Model)
	for _, r := range t.counts(in, m, cmp.Or(ev.Role, in.role())) {
		r.add(took, false)
		r.Tokens.add(ev)
	}
	if ev.Sum() > 0 { // else the server has not said
		m.used, t.used = append(m.used, ev), append(t.used, ev)
	}
	t.span.Tokens += ev.Sum()
}

func (t *Tally) finished(in scope, ev engine.Finished) {
	t.called(in, ev)
	one := t.tools.at(ev.Name)
	var d *int // no decision was taken about a call that could not be made
	switch {
	case errors.Is(ev.Err, engine.ErrRefused):
		d = &one.Decisions.Reject
		t.all.Decisions.Reject++
	case t.allowed[in.calls+ev.ID]:
		d = &one.Decisions.Accept
		t.all.Decisions.Accept++
	}
	if d != nil {
		*d++
	}
	delete(t.allowed, in.calls+ev.ID)
	if ev.Asked {
		t.asked++
	}
	for _, c := range []*tool{one, &t.all} {
		c.Count++
		c.Took += ev.Took
		if ev.Err == nil {
			c.Success++
		} else {
			c.Fail++
		}
	}
	t.span.Calls++
	var ce *engine.CallError
	switch {
	case errors.Is(ev.Err, engine.ErrRefused):
		t.span.Refused++
	case errors.As(ev.Err, &ce) && ce.Type == engine.PolicyViolation:
		t.span.Denied++
	case engine.Outcome(ev.Err) == engine.Cancelled:
		t.span.Cancelled++
	case ev.Err != nil:
		t.span.Failed++
	}
	for _, c := range ev.Result.Changes {
		t.added += c.Added
		t.removed += c.Removed
		insert(&t.files, c.Path)
		insert(&t.changed, c.Path)
	}
	t.span.Files = len(t.changed)
}

func insert(set *map[string]bool, path string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[path] = true
}

func elapsed(from, to time.Time) time.Duration { return max(0, to.Sub(from)) }

// Calls returns how many calls there were, whatever became of them.
func (t *Tally) Calls() int { return t.all.Count }

// Tokens returns how many tokens all requests took.
func (t *Tally) Tokens() int { return t.sum().Total }

func (t *Tally) sum() tokens {
	var s tokens
	for _, m := range t.models.values {
		s = s.plus(m.all.Tokens)
	}
	return s
}
