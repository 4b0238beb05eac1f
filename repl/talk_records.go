package repl

import (
	"encoding/json"
	"fmt"
	"time"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
	"gemline/repl/protocol"
	"gemline/repl/question"
)

// The records of a conversation, beside those of a stream.
type (
	approvalRecord struct {
		head
		ID       string   `json:"id"`
		CallID   string   `json:"tool_id"`
		Name     string   `json:"tool_name"`
		Title    string   `json:"title"`
		Detail   string   `json:"detail"`
		Args     any      `json:"args"`
		Commands []string `json:"commands,omitempty"`
		Paths    []string `json:"paths,omitempty"`
		judged
		Grants []string `json:"grants"`
		Rules  []kept   `json:"rules"`
		tail
	}
	judged struct {
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
		Network  bool     `json:"network_offered,omitempty"`
		Dials    []string `json:"network_wanted_by,omitempty"`
	}
	rights struct {
		Network bool     `json:"network,omitempty"`
		Read    []string `json:"read,omitempty"`
		Write   []string `json:"write,omitempty"`
		Files   []string `json:"files,omitempty"`
		All     bool     `json:"protected,omitempty"`
	}
	// kept is how a grant can be kept, and as what.
	kept struct {
		Rule   string   `json:"rule,omitempty"`
		Scopes []string `json:"scopes"`
	}
	questionRecord struct {
		head
		ID        string         `json:"id"`
		CallID    string         `json:"tool_id"`
		Name      string         `json:"tool_name"`
		Questions []questionItem `json:"questions"`
		tail
	}
	turnRecord struct {
		head
		Turn     int             `json:"turn"`
		ID       string          `json:"id,omitempty"`
		Status   string          `json:"status"`
		Error    *failure        `json:"error,omitempty"`
		Stats    json.RawMessage `json:"stats"`
		Session  string          `json:"session_id"`
		ExitCode int             `json:"exit_code"`
		Reason   string          `json:"termination_reason"`
		Denied   []denial        `json:"denied"`
		tail
	}
)

// A questionItem is one of the model's.
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

// write has f add to the stream, unless that is over.
func (t *Talk) write(f func(s *stream)) {
	r := t.Reporter
	if b, ok := r.(*both); ok {
		r = b.data
	}
	one := r.(*reporter)
	defer one.lock()()
	if !one.over {
		f(one.form.(*stream))
	}
}

// denied returns how many calls were denied so far.
func (t *Talk) denied() (n int) {
	t.write(func(s *stream) { n = len(s.denied) })
	return n
}

// hear notes what the user says, to be told when something follows from it.
func (s *stream) hear(m protocol.User) { s.prompt, s.id = spoken(m), m.ID }

// ask puts a question to the client.
func (s *stream) ask(q *posed) {
	s.flush()
	in := q.p.Intent
	call, bad := output.Clean(q.p.ID)
	name, _ := output.Clean(q.p.Tool.Name())
	if len(in.Questions) > 0 {
		qs := make([]questionItem, len(in.Questions))
		for i, one := range in.Questions {
			qs[i] = questionOf(one)
		}
		h, t := s.record("question", bad)
		s.put(questionRecord{h, q.id, call, name, qs, t})
		return
	}
	given := q.p.Args
	if given == nil {
		given = map[string]any{}
	}
	args, worse := sound(given)
	grants, rules := []string{}, []kept{}
	for _, g := range question.Grants(q.p) {
		k := kept{Rule: output.Escape(g.Rule)}
		for _, s := range question.Scopes(g) {
			k.Scopes = append(k.Scopes, question.ScopeName(s))
		}
		grants, rules = append(grants, output.EscapeLine(g.Label)), append(rules, k)
	}
	h, t := s.record("approval_request", bad || worse)
	s.put(approvalRecord{h, q.id, call, name, output.EscapeLine(in.Title), output.Escape(in.Detail), args,
		escapedLines(question.Programs(in)), escapedLines(in.Paths), judgement(q.p), grants, rules, t})
}

// judgement returns what is known of a call that runs programs.
func judgement(p engine.Proposal) judged {
	in := p.Intent
	if p.Tool.Kind != engine.Execute {
		return judged{}
	}
	held := in.Plan.Held != ""
	j := judged{Class: in.Plan.Class.String(), Why: output.EscapeLine(in.Plan.Why), Sets: escapedLines(question.Environment(in)), Writes: escapedLines(in.Plan.Writes),
		Cwd: output.EscapeLine(in.Plan.Dir), Confined: &held, Limits: output.EscapeLine(in.Plan.Held), Failed: output.EscapeLine(in.Plan.Failed), Refused: escapedLines(in.Plan.Refused),
		Network: in.Plan.Online != nil, Dials: escapedLines(in.Plan.Dials)}
	if r := in.Plan.Rights; !r.None() {
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
	kind := map[engine.QuestionKind]string{engine.Choice: "choice", engine.FreeText: "text", engine.YesNo: "yesno"}[q.Kind]
	out := questionItem{Header: output.Valid(q.Header), Text: output.Valid(q.Text), Kind: kind, Multi: q.Multi, Hint: output.Valid(q.Hint)}
	for _, o := range q.Options {
		out.Options = append(out.Options, option{output.Valid(o.Label), output.Valid(o.Description)})
	}
	return out
}

// result ends a turn. What was denied since there were so many is its own.
func (t *Talk) result(m protocol.User, count *tally.Tally, took time.Duration, denied int, o Outcome) {
	status := "success"
	switch {
	case o.failed() && engine.Outcome(o.Err) == engine.Cancelled:
		status = "cancelled"
	case o.failed():
		status = "error"
	}
	stats := count.Flat(took)
	t.write(func(s *stream) {
		s.flush()
		s.prompt, s.id = "", ""
		s.Session = or(t.Session(), s.Session)
		h, tl := s.record("turn_result", false)
		s.put(turnRecord{h, t.turns, output.Valid(m.ID), status, fault(o), stats, output.Valid(s.Session), o.ExitCode,
			output.Valid(o.Reason), append([]denial{}, s.denied[denied:]...), tl})
	})
}

// complain says what is wrong with a line of the input, and which one it was.
func (t *Talk) complain(l protocol.Line, id, problem string) {
	where := fmt.Sprintf("line %d: ", l.Number)
	if l.Through > l.Number {
		where = fmt.Sprintf("lines %d to %d: ", l.Number, l.Through)
	}
	message, invalid := output.Clean(where + problem)
	t.write(func(s *stream) {
		h, tl := s.record("error", invalid)
		s.put(errorRecord{head: h, Severity: "error", Message: message, Line: l.Number, ID: output.Valid(id), tail: tl})
	})
}
