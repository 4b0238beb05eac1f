package talk

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/report"
)

// An openQuestion is a question without an answer yet.
type openQuestion struct {
	id    string // of the question, not of the call: a call may need several approvals
	p     engine.Proposal
	reply chan engine.Answer // buffered; closed without an answer
}

// Approve implements [engine.Approver]. It waits for the client's answer, until the input ends.
func (c *Server) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t := c.now
	var q *openQuestion
	t.desk.Do(func() {
		if !c.inbox.ended {
			q = t.pose(p)
			c.Stream.Add(func(r *report.Records) { ask(r, q) })
		}
	})
	if q == nil {
		return c.Nobody.Approve(ctx, p)
	}
	select {
	case a, ok := <-q.reply:
		if !ok {
			return c.Nobody.Approve(ctx, p)
		}
		return a, nil
	case <-ctx.Done():
		t.desk.Do(func() { t.open = nil })
		return nil, ctx.Err()
	}
}

// pose opens a question. A later question about the same call gets another id, so that an earlier
// answer can't match it.
func (t *runningTurn) pose(p engine.Proposal) *openQuestion {
	q := &openQuestion{id: output.Valid(p.ID), p: p, reply: make(chan engine.Answer, 1)}
	t.counts[q.id]++
	if n := t.counts[q.id]; n > 1 {
		q.id = fmt.Sprintf("%s#%d", q.id, n)
	}
	t.open = q
	return q
}

// reply answers the open question by a line, or reports the line's problem.
func (c *Server) reply(l line, id string, read func(*openQuestion) (a engine.Answer, problem string)) {
	t := c.now
	if t == nil || t.open == nil || t.open.id != id {
		c.complain(l, id, fmt.Sprintf("no question %.300q is open", id))
		return
	}
	a, problem := read(t.open)
	if problem != "" {
		c.complain(l, id, problem)
		return
	}
	t.open.reply <- a
	t.open = nil
}

// approval converts m into an answer to q.
func (q *openQuestion) approval(m approvalMessage) (a engine.Answer, problem string) {
	grants := question.Grants(q.p)
	switch {
	case len(q.p.Intent.Questions) > 0:
		return a, "this question needs a line of the type answer"
	case m.Decision != allow && m.Decision != always:
		return engine.Refused{Note: m.Note}, ""
	case m.Decision == allow && m.Args != nil && text.Compact(m.Args) != text.Compact(q.p.Args): // else nothing changes
		if fit := q.p.Tool.Fit; fit != nil {
			if _, _, err := fit(m.Args); err != nil {
				return nil, fmt.Sprintf("args can't be used: %.300s", err)
			}
		}
		return engine.Changed{Args: m.Args}, ""
	case m.Text != nil && q.p.Intent.Draft == nil:
		return nil, "this call has no draft"
	case m.Text != nil:
		return engine.Changed{Args: q.p.Intent.Draft.Args(*m.Text)}, ""
	case m.Network:
		a, ok := question.WithNetwork(q.p)
		if !ok {
			return nil, "the network was not offered"
		}
		return a, ""
	case m.ReadOnly:
		a, ok := question.ReadOnly(q.p)
		if !ok {
			return nil, "to run it read-only was not offered"
		}
		return a, ""
	case m.Decision == allow:
		return engine.Allowed{}, ""
	case m.Grant >= len(grants):
		return a, fmt.Sprintf("there is no grant %d; offered: %d, counted from 0", m.Grant, len(grants))
	}
	scope, _ := question.ParseScope(cmp.Or(m.Scope, "session"))
	return question.Always(grants[m.Grant], scope)
}

// answers converts m into an answer to q.
func (q *openQuestion) answers(m answersMessage) (a engine.Answer, problem string) {
	qs := q.p.Intent.Questions
	if len(qs) == 0 {
		return a, "this question needs a line of the type approval"
	}
	if len(m.Replies) > len(qs) {
		return a, fmt.Sprintf("%d answers are too many; questions: %d", len(m.Replies), len(qs))
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
