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

	began  time.Time
	counts counts
	open   open
	prompt prompt
	check  *Check
	part   *Tally // counts the same; nil if there is none
}

// Begin has part, instead of the earlier part, count the events that t counts from now on.
func (t *Tally) Begin(part *Tally) { t.part = part }

// A Check is how the last check of the work went.
type Check struct {
	Command string `json:"command"`
	Rounds  int    `json:"rounds"`    // the number of checks
	Code    int    `json:"exit_code"` // of the last one
	OK      bool   `json:"ok"`
}

// Checked returns how the last check went, nil if nothing was checked.
func (t *Tally) Checked() *Check { return t.check }

// Changed sets the number of files that the prompt has changed, if the caller knows it better
// than from the tools' results.
func (t *Tally) Changed(files int) { t.prompt.span.Files = files }

// Start begins the counts of a prompt, which [Tally.Span] returns.
func (t *Tally) Start(now time.Time) {
	t.began = cmp.Or(t.began, now)
	t.prompt = prompt{start: now}
	if t.part != nil {
		t.part.Start(now)
	}
}

// Observe counts ev, which was seen at now.
func (t *Tally) Observe(ev engine.Event, now time.Time) {
	if t.part != nil {
		t.part.Observe(ev, now)
	}
	t.began = cmp.Or(t.began, now)
	t.observe(scope{}, ev, now)
}

// observe counts an event of the conversation in.
func (t *Tally) observe(in scope, ev engine.Event, now time.Time) {
	switch ev := ev.(type) {
	case engine.NestedEvent:
		at := in.inside(ev)
		put(&t.open.serving, at.calls, ev.Agent)
		t.observe(at, ev.Event, now)
	case engine.RequestStarted:
		t.settle(in.calls, now)
		put(&t.open.requests, in.calls, &request{in: in, model: ev.Model, role: in.role(), at: now})
	case engine.Retry:
		if p := t.open.requests[in.calls]; p != nil {
			t.fail(p, ev.Err, now)
			p.at, p.repeated = now.Add(ev.Delay), true
			p.model = cmp.Or(ev.Model, p.model)
		}
	case engine.Usage:
		t.usage(in, ev, now)
	case engine.CallRequested:
		t.settle(in.calls, now)
		if in.agent != "" {
			put(&t.open.within, in.agent+"/"+ev.ID, in.calls)
		}
	case engine.CallStateChanged:
		if ev.State == engine.Scheduled {
			put(&t.open.allowed, in.calls+ev.ID, true)
		}
	case engine.CheckFinished:
		t.check = &Check{Command: ev.Command, Rounds: ev.Round, Code: ev.Code, OK: ev.Err == nil}
		t.prompt.span.Check = "ok"
		if ev.Err != nil {
			t.prompt.span.Check = engine.DisplayError(ev.Err)
		}
		if ev.Round > 1 {
			t.prompt.span.Check += " in round " + text.Number(ev.Round)
		}
	case engine.CallFinished:
		inside := in.calls + ev.ID + "/"
		t.end(inside, ev.Err, now)
		ev.Took = max(0, ev.Took-t.open.waited[inside]) // without the time in which the agent waited for answers
		delete(t.open.waited, inside)
		delete(t.open.within, in.agent+"/"+ev.ID)
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
	p := t.open.requests[in]
	if p == nil || err == nil || errors.Is(err, engine.ErrMaxTurns) {
		t.settle(in, now)
		return
	}
	delete(t.open.requests, in)
	t.fail(p, err, now)
}

// settle counts a request that was answered without token counts.
func (t *Tally) settle(in string, now time.Time) {
	if p := t.open.requests[in]; p != nil {
		delete(t.open.requests, in)
		for _, r := range t.counts.of(p.in, t.counts.models.at(p.model), p.role) {
			r.add(elapsed(p.at, now), false)
		}
	}
}

// Asking returns an Approver that asks a, and subtracts the waiting time from the times of
// requests. If a is nil, so is the result.
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

// pause subtracts the time until an answer from the time of the prompt, and from the request or
// call that waits for the answer.
func (t *Tally) pause(p engine.Proposal, d time.Duration) {
	t.prompt.idle += d
	t.open.pause(p, d)
	if t.part != nil {
		t.part.pause(p, d)
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
	m := t.counts.models.at(p.model)
	for _, r := range t.counts.of(p.in, m, p.role) {
		r.add(elapsed(p.at, now), true)
	}
	*m.ByType.at(class)++
}

func (t *Tally) usage(in scope, ev engine.Usage, now time.Time) {
	if ev.Err != nil {
		t.fail(&request{in: in, model: ev.Model, role: cmp.Or(ev.Role, in.role()), at: now.Add(-ev.Took)}, ev.Err, now)
		return
	}
	took := ev.Took
	if ev.Role == "" { // else the conversation's own request is still open
		if p := t.open.requests[in.calls]; p != nil && p.repeated {
			took = elapsed(p.at, now) // Took includes the attempts that failed
		}
		delete(t.open.requests, in.calls)
	}
	m := t.counts.models.at(ev.Model)
	for _, r := range t.counts.of(in, m, cmp.Or(ev.Role, in.role())) {
		r.add(took, false)
		r.Tokens.add(ev)
	}
	if ev.Sum() > 0 { // otherwise the server has not sent counts
		m.used, t.prompt.used = append(m.used, ev), append(t.prompt.used, ev)
	}
	t.prompt.span.Tokens += ev.Sum()
}

func (t *Tally) finished(in scope, ev engine.CallFinished) {
	id, failed := in.calls+ev.ID, 0
	if ev.Err != nil {
		failed = 1
	}
	if in.agent != "" {
		a := t.counts.agents.at(in.agent)
		a.Calls, a.CallsFailed = a.Calls+1, a.CallsFailed+failed
	}
	if name, ran := t.open.serving[id+"/"]; ran {
		a := t.counts.agents.at(name)
		a.Runs, a.Failed, a.Took = a.Runs+1, a.Failed+failed, a.Took+millis(ev.Took)
	}
	t.counts.finished(ev, t.open.allowed[id])
	t.prompt.finished(ev)
	delete(t.open.serving, id+"/")
	delete(t.open.allowed, id)
}

func elapsed(from, to time.Time) time.Duration { return max(0, to.Sub(from)) }

// Tokens returns the tokens of all requests.
func (t *Tally) Tokens() int { return t.counts.tokens().Total }
