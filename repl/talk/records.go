package talk

import (
	"encoding/json"
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/report"
)

// The further records of a conversation, beside the records of a stream.
type (
	approvalRecord struct {
		ID string `json:"id"`
		asker
		Title    string   `json:"title"`
		Detail   string   `json:"detail"`
		Args     any      `json:"args"`
		Commands []string `json:"commands,omitempty"`
		Paths    []string `json:"paths,omitempty"`
		judgement
		Yes    string     `json:"yes,omitempty"`
		No     string     `json:"no,omitempty"`
		Facts  []fact     `json:"facts,omitempty"`
		Draft  *draft     `json:"draft,omitempty"`
		Grants []string   `json:"grants"`
		Rules  []keptRule `json:"rules"`
	}
	// An asker names the agent whose call asks.
	asker struct {
		CallID string `json:"tool_id"`
		Name   string `json:"tool_name"`
		Server string `json:"server,omitempty"`
		Agent  string `json:"agent,omitempty"`
	}
	fact struct {
		Severity string `json:"severity"`
		Text     string `json:"text"`
	}
	draft struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	judgement struct {
		Class  string   `json:"class,omitempty"`
		Why    string   `json:"why,omitempty"`
		Sets   []string `json:"sets,omitempty"`
		Writes []string `json:"writes,omitempty"`

		Cwd      string   `json:"cwd,omitempty"`
		Confined *bool    `json:"confined,omitempty"`
		Limits   string   `json:"limits,omitempty"`
		Rights   *rights  `json:"rights,omitempty"`
		Failed   string   `json:"failed_without,omitempty"`
		Refused  []string `json:"failed_to_write,omitempty"`
		Looked   bool     `json:"failed_read_only,omitempty"`
		Network  bool     `json:"network_offered,omitempty"`
		ReadOnly bool     `json:"read_only_offered,omitempty"`
		Dials    []string `json:"network_wanted_by,omitempty"`
	}
	rights struct {
		Network bool     `json:"network,omitempty"`
		Read    []string `json:"read,omitempty"`
		Write   []string `json:"write,omitempty"`
		Files   []string `json:"files,omitempty"`
		All     bool     `json:"protected,omitempty"`
	}
	// A keptRule is a scope in which a grant can be stored, and its rule.
	keptRule struct {
		Rule   string   `json:"rule,omitempty"`
		Scopes []string `json:"scopes"`
	}
	questionRecord struct {
		ID string `json:"id"`
		asker
		Questions []questionItem `json:"questions"`
	}
	turnRecord struct {
		Turn     int             `json:"turn"`
		ID       string          `json:"id,omitempty"`
		Status   string          `json:"status"`
		Error    *report.Failure `json:"error,omitempty"`
		Stats    json.RawMessage `json:"stats"`
		Session  string          `json:"session_id"`
		ExitCode int             `json:"exit_code"`
		Reason   string          `json:"termination_reason"`
		Denied   []report.Denial `json:"denied"`
		Check    *tally.Check    `json:"check,omitempty"`

		Cited []engine.Reference `json:"citations,omitempty"`
		Hint  bool               `json:"hint,omitempty"`
	}
)

// A questionItem is a question of the model.
type questionItem struct {
	Header  string   `json:"header"`
	Text    string   `json:"question"`
	Kind    string   `json:"kind"`
	Options []option `json:"options,omitempty"`
	Multi   bool     `json:"multi,omitempty"`
	Hint    string   `json:"placeholder,omitempty"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// denied returns the number of denied calls so far.
func denied(s *report.Stream) (n int) {
	s.Add(func(r *report.Records) { n = len(r.Denied(nil)) })
	return n
}

// ask sends a question to the client.
func ask(r *report.Records, q *openQuestion) {
	r.Flush()
	in := q.p.Intent
	who := asker{r.Text(q.p.ID), output.Valid(q.p.Tool.Name()), output.EscapeLine(q.p.Tool.Server),
		output.EscapeLine(q.p.Agent)}
	if len(in.Questions) > 0 {
		qs := make([]questionItem, len(in.Questions))
		for i, one := range in.Questions {
			qs[i] = questionOf(one)
		}
		r.Put("question", questionRecord{q.id, who, qs})
		return
	}
	grants, rules := []string{}, []keptRule{}
	for _, g := range question.Grants(q.p) {
		k := keptRule{Rule: output.Escape(g.Rule)}
		for _, s := range question.Scopes(g) {
			k.Scopes = append(k.Scopes, question.ScopeName(s))
		}
		grants, rules = append(grants, output.EscapeLine(g.Label)), append(rules, k)
	}
	r.Put("approval_request", approvalRecord{q.id, who, output.EscapeLine(in.Title),
		output.Escape(in.Detail), r.Args(q.p.Args),
		escapedLines(question.Programs(in)), escapedLines(in.Paths), judgementOf(q.p),
		output.EscapeLine(in.Yes), output.EscapeLine(in.No), factsOf(q.p), draftOf(in), grants, rules})
}

// factsOf returns the facts about a call, except the usual facts, such as the confinement, which
// has separate fields.
func factsOf(p engine.Proposal) (facts []fact) {
	for _, f := range question.Facts(p, true) {
		if f.Usual {
			continue
		}
		severity := "info"
		if f.Label == output.Warning {
			severity = "warning"
		}
		facts = append(facts, fact{severity, output.EscapeLine(f.Text)})
	}
	return facts
}

// draftOf returns the part of a call that the client may change, nil if there is none.
func draftOf(in engine.Intent) *draft {
	if in.Draft == nil {
		return nil
	}
	return &draft{output.EscapeLine(in.Draft.Name), output.Valid(in.Draft.Text)}
}

// judgementOf returns the judgement of a call that runs programs, zero for other calls.
func judgementOf(p engine.Proposal) judgement {
	in := p.Intent
	if p.Tool.Kind != engine.Execute {
		return judgement{}
	}
	held := in.Plan.Limits != ""
	j := judgement{Class: in.Plan.Class.String(), Why: output.EscapeLine(in.Plan.Why),
		Sets: escapedLines(question.Environment(in)), Writes: escapedLines(in.Plan.Writes),
		Cwd: output.EscapeLine(in.Plan.Dir), Confined: &held, Limits: output.EscapeLine(in.Plan.Limits), Failed: output.EscapeLine(in.Plan.Failure.Reason), Refused: escapedLines(in.Plan.Failure.Unwritable),
		Looked: in.Plan.Failure.ReadOnly, ReadOnly: in.Plan.ReadOnlyArgs != nil,
		Network: in.Plan.NetworkArgs != nil, Dials: escapedLines(in.Plan.NetworkPrograms)}
	if r := in.Plan.Rights; !r.Empty() {
		j.Rights = &rights{r.Network, escapedLines(r.Read), escapedLines(r.Write), escapedLines(r.Files), r.Protected}
	}
	return j
}

func escapedLines(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = output.EscapeLine(s)
	}
	return out
}

func questionOf(q engine.Question) questionItem {
	out := questionItem{Header: output.Valid(q.Header), Text: output.Valid(q.Text),
		Kind: question.KindName(q.Kind), Multi: q.Multi, Hint: output.Valid(q.Hint)}
	for _, o := range q.Options {
		out.Options = append(out.Options, option{output.Valid(o.Label), output.Valid(o.Description)})
	}
	return out
}

// result ends a turn. It leaves out denials of earlier turns.
func (c *Server) result(t *runningTurn, took time.Duration, o report.Outcome) {
	status := "success"
	switch {
	case o.Failed() && engine.Outcome(o.Err) == engine.Cancelled:
		status = "cancelled"
	case o.Failed():
		status = "error"
	}
	stats := t.tally.Flat(took)
	c.Stream.Add(func(r *report.Records) {
		r.Flush()
		var cited []engine.Reference
		if t == c.now { // the pending output of the running turn belongs to it
			r.User("", "")
			cited = r.TakeCitations()
		}
		r.Put("turn_result", turnRecord{t.number, output.Valid(t.ID), status, report.FailureOf(o),
			stats, output.Valid(r.In(c.Session())), o.ExitCode,
			output.Valid(o.Reason), append([]report.Denial{},
				r.Denied(o.Err)[t.denied:]...), report.CheckOf(t.tally), cited, t.hinted})
	})
}

// complain reports a problem of an input line, with the line's number.
func (c *Server) complain(l line, id, problem string) {
	where := fmt.Sprintf("line %d: ", l.Number)
	if l.Through > l.Number {
		where = fmt.Sprintf("lines %d to %d: ", l.Number, l.Through)
	}
	t, q := c.now, c.consent
	open := id != "" && (t != nil && t.open != nil && t.open.id == id || q != nil && q.id == id)
	if open {
		problem += "; the question is still open"
	}
	c.Stream.Add(func(r *report.Records) {
		r.Put("error", report.ErrorRecord{Severity: "error", Message: r.Text(where + problem),
			Line: l.Number, ID: output.Valid(id), Open: open})
	})
}
