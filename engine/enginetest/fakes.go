package enginetest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// An Approver gives its answers in order. Being asked too often fails the test.
type Approver struct {
	t         testing.TB
	mu        sync.Mutex
	answers   []engine.Answer
	proposals []engine.Proposal
}

// NewApprover returns an Approver that gives answers.
func NewApprover(t testing.TB, answers ...engine.Answer) *Approver {
	return &Approver{t: t, answers: answers}
}

// Approve implements [engine.Approver].
func (a *Approver) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.proposals = append(a.proposals, p)
	if len(a.answers) == 0 {
		a.t.Errorf("asked once too often, about %s %v", p.Tool.Name(), p.Args)
		return engine.Refused{}, nil
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// Proposals returns the proposals so far.
func (a *Approver) Proposals() []engine.Proposal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]engine.Proposal(nil), a.proposals...)
}

// A Journal stores entries in memory. The zero Journal is ready for use.
type Journal struct {
	// Fail, if not nil, is the error that Record, Result and Rewrite return; they then record
	// nothing.
	Fail error

	mu      sync.Mutex
	entries []engine.Entry
	results []engine.CallRecord
}

// Record implements [engine.Journal].
func (j *Journal) Record(e engine.Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.Fail == nil {
		j.entries = append(j.entries, e)
	}
	return j.Fail
}

// Result implements [engine.Journal].
func (j *Journal) Result(c engine.CallRecord) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.Fail == nil {
		j.results = append(j.results, c)
	}
	return j.Fail
}

// Results returns the outcomes of calls, in the order of recording.
func (j *Journal) Results() []engine.CallRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]engine.CallRecord(nil), j.results...)
}

// Rewrite implements [engine.Journal].
func (j *Journal) Rewrite(said []*genai.Content) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.Fail != nil {
		return j.Fail
	}
	old := j.entries
	j.entries = slices.DeleteFunc(slices.Clone(old), func(e engine.Entry) bool { return !e.Opening })
	for _, c := range said {
		e := engine.Entry{Content: c}
		if i := slices.IndexFunc(old, func(e engine.Entry) bool { return e.Content == c }); i >= 0 {
			e = old[i]
		}
		j.entries = append(j.entries, e)
	}
	return nil
}

// Entries returns the recorded entries.
func (j *Journal) Entries() []engine.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]engine.Entry(nil), j.entries...)
}

// CheckHistory checks that history is a conversation that the API accepts: every
// message with calls is followed by the answers to them, one for each and in
// the same order, and nothing else is an answer.
func CheckHistory(t testing.TB, history []*genai.Content) {
	t.Helper()
	var open []*genai.FunctionCall
	for i, c := range history {
		if len(c.Parts) == 0 {
			t.Errorf("message %d says nothing", i)
		}
		var answers []*genai.FunctionResponse
		var calls []*genai.FunctionCall
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				answers = append(answers, p.FunctionResponse)
			}
			if p.FunctionCall != nil {
				calls = append(calls, p.FunctionCall)
			}
		}
		if len(answers) != len(open) {
			t.Errorf("message %d (%s) holds %d answers to %d calls", i, c.Role, len(answers), len(open))
		}
		for k := range min(len(answers), len(open)) {
			if answers[k].ID != open[k].ID || answers[k].Name != open[k].Name {
				t.Errorf("message %d: answer %d is for %s %q, the call was %s %q",
					i, k, answers[k].Name, answers[k].ID, open[k].Name, open[k].ID)
			}
		}
		if len(answers) > 0 && c.Role != genai.RoleUser {
			t.Errorf("message %d: answers in the role %q", i, c.Role)
		}
		if len(calls) > 0 && c.Role != genai.RoleModel {
			t.Errorf("message %d: calls in the role %q", i, c.Role)
		}
		open = calls
	}
	if len(open) > 0 {
		t.Errorf("the last message holds %d calls without an answer", len(open))
	}
}
