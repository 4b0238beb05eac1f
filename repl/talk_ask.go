package repl

import (
	"context"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/repl/output"
	"gemline/repl/protocol"
	"gemline/repl/question"
)

// A posed is a question that the client has been put.
type posed struct {
	id    string // of the question, not of the call: a call may be asked about again
	p     engine.Proposal
	reply chan engine.Answer // holds one; closed if nobody answers
}

// Approve implements [engine.Approver]. It waits for the client, for as long as
// there is one.
func (t *Talk) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var q *posed
	t.desk.do(func() {
		if !t.ended {
			q = t.pose(p)
		}
	})
	if q == nil {
		return t.Nobody.Approve(ctx, p)
	}
	select {
	case a, ok := <-q.reply:
		if !ok {
			return t.Nobody.Approve(ctx, p)
		}
		return a, nil
	case <-ctx.Done():
		t.desk.do(func() { t.open = nil })
		return nil, ctx.Err()
	}
}

// pose puts a question to the client. A question that follows another about the
// same call has an id of its own, so that no answer to the one before can be
// meant for it.
func (t *Talk) pose(p engine.Proposal) *posed {
	q := &posed{id: output.Valid(p.ID), p: p, reply: make(chan engine.Answer, 1)}
	t.counts[q.id]++
	if n := t.counts[q.id]; n > 1 {
		q.id = fmt.Sprintf("%s#%d", q.id, n)
	}
	t.open = q
	t.write(func(s *stream) { s.ask(q) })
	return q
}

// settle gives the open question the answer that a line holds, or says what is
// wrong with it.
func (t *Talk) settle(l protocol.Line, id string, read func(*posed) (a engine.Answer, problem string)) {
	q := t.open
	if q == nil || q.id != id {
		t.complain(l, id, fmt.Sprintf("no question %.300q is open", id))
		return
	}
	a, problem := read(q)
	if problem != "" {
		t.complain(l, id, problem+"; the question is still open")
		return
	}
	t.open = nil
	q.reply <- a
}

// approval returns the answer that m is to q.
func (q *posed) approval(m protocol.Approval) (a engine.Answer, problem string) {
	grants := question.Grants(q.p)
	switch {
	case len(q.p.Intent.Questions) > 0:
		return a, "this question needs a line of the type answer"
	case m.Decision == protocol.Deny:
		return engine.Refused{Note: m.Note}, ""
	case m.Decision == protocol.Allow && m.Args != nil:
		return engine.Changed{Args: m.Args}, ""
	case m.Network:
		a, ok := question.WithNetwork(q.p)
		if !ok {
			return nil, "the network was not offered"
		}
		return a, ""
	case m.Decision == protocol.Allow:
		return engine.Allowed{}, ""
	case m.Grant >= len(grants):
		return a, fmt.Sprintf("there is no grant %d; %d were offered, counted from 0", m.Grant, len(grants))
	}
	scope, _ := question.ParseScope(or(m.Scope, "session"))
	return question.Always(grants[m.Grant], scope)
}

// answers returns the answer that m is to q.
func (q *posed) answers(m protocol.Answers) (a engine.Answer, problem string) {
	qs := q.p.Intent.Questions
	if len(qs) == 0 {
		return a, "this question needs a line of the type approval"
	}
	if len(m.Replies) > len(qs) {
		return a, fmt.Sprintf("%d answers are too many; there are %d questions", len(m.Replies), len(qs))
	}
	replies := make([]string, len(qs))
	for i, s := range m.Replies {
		if replies[i] = s; s == "" || qs[i].Kind != engine.YesNo {
			continue
		}
		if replies[i], problem = question.YesNo(strings.TrimSpace(s)); problem != "" {
			return a, fmt.Sprintf("answers[%d]: %.100q is neither Yes nor No", i, s)
		}
	}
	return engine.Replied{Replies: replies}, ""
}
