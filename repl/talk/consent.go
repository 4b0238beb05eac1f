package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gemline/repl/output"
	"gemline/repl/question"
	"gemline/repl/report"
)

// ErrGone is why nobody has said whether a folder is trusted: the input has ended.
var ErrGone = errors.New("nobody is there to answer: the input has ended")

// An openConsent is a question about the folder that the client has been put.
type openConsent struct {
	id    string
	names []string    // of the possible answers
	reply chan string // holds one; closed if nobody answers
}

type (
	consentRecord struct {
		ID        string           `json:"id"`
		About     string           `json:"about"`
		Title     string           `json:"title"`
		Folder    string           `json:"folder"`
		Brings    []broughtLine    `json:"brings,omitempty"`
		Wishes    []wishItem       `json:"wishes,omitempty"`
		Decisions []decisionOption `json:"decisions"`
	}
	broughtLine struct {
		Text    string `json:"text"`
		Weakens bool   `json:"weakens,omitempty"`
	}
	wishItem struct {
		Title   string       `json:"title"`
		Agent   bool         `json:"agent,omitempty"`
		Command string       `json:"command"`
		Only    string       `json:"confined_because,omitempty"`
		Files   []scriptItem `json:"files,omitempty"`
	}
	scriptItem struct {
		Path  string `json:"path"`
		Text  string `json:"text,omitempty"`
		Lines int    `json:"lines"`
		Error string `json:"error,omitempty"`
	}
	decisionOption struct {
		Decision string `json:"decision"`
		Text     string `json:"text"`
	}
)

// Trust asks the client whether a folder is trusted and may run its items, before the
// conversation begins or in a turn. Its error is [ErrGone] if nobody answers.
func (c *Server) Trust(ctx context.Context, f question.Folder) (question.TrustAnswer, error) {
	r := consentRecord{About: "folder", Title: f.Title(), Folder: output.EscapeLine(f.Path),
		Wishes: wishItems(f.Path, f.Items)}
	for i, b := range f.Contents {
		r.Brings = append(r.Brings, broughtLine{output.EscapeLine(b), i < len(f.Caution) && f.Caution[i]})
	}
	return consult(ctx, c, r, f.Options())
}

// Consent asks the client whether what a folder wants may be, before the conversation
// begins or in a turn. If nobody answers, it may not be this time.
func (c *Server) Consent(ctx context.Context, folder string, wishes []question.ConsentItem) (question.Consent, error) {
	r := consentRecord{About: "commands", Title: question.ConsentTitle(folder, wishes),
		Folder: output.EscapeLine(folder), Wishes: wishItems(folder, wishes)}
	answer, err := consult(ctx, c, r, question.ConsentOptions(wishes))
	if errors.Is(err, ErrGone) {
		return question.NotThisTime, nil
	}
	return answer, err
}

// wishItems returns what a folder wants to run, each with the files that run for it.
func wishItems(folder string, wishes []question.ConsentItem) (list []wishItem) {
	for _, w := range wishes {
		item := wishItem{Title: output.EscapeLine(w.Title), Agent: w.Agent, Command: output.Escape(w.Command),
			Only: output.EscapeLine(w.Only)}
		for _, s := range w.Scripts(folder) {
			f := scriptItem{Path: output.EscapeLine(s.Path), Text: output.Escape(s.Text), Lines: s.Lines}
			if s.Err != nil {
				f.Lines, f.Error = 0, output.EscapeLine(s.Err.Error())
			}
			item.Files = append(item.Files, f)
		}
		list = append(list, item)
	}
	return list
}

// consult puts a question about a folder to the client, and returns its answer.
func consult[T any](ctx context.Context, c *Server, r consentRecord,
	options []question.Option[T]) (answer T, err error) {
	q := &openConsent{reply: make(chan string, 1)}
	for _, o := range options {
		q.names = append(q.names, o.Name)
		r.Decisions = append(r.Decisions, decisionOption{o.Name, o.Text})
	}
	pose := func() {
		c.open(ctx)
		if c.inbox.ended {
			close(q.reply)
			return
		}
		c.consents++
		q.id = fmt.Sprintf("consent-%d", c.consents)
		r.ID, c.consent = q.id, q
		c.Stream.Add(func(to *report.Records) { to.Flush(); to.Put("consent_request", r) })
	}
	if t := c.now; t != nil {
		t.desk.Do(pose)
		select {
		case <-ctx.Done():
			t.desk.Do(func() { c.consent = nil })
			return answer, context.Cause(ctx)
		case name, ok := <-q.reply:
			return find(options, name, ok)
		}
	}
	for pose(); c.consent != nil; {
		select {
		case <-ctx.Done():
			c.consent = nil
			return answer, context.Cause(ctx)
		case l, ok := <-c.inbox.lines:
			c.handle(l, ok)
		}
	}
	name, ok := <-q.reply
	return find(options, name, ok)
}

func find[T any](options []question.Option[T], name string, ok bool) (answer T, err error) {
	if !ok {
		return answer, ErrGone
	}
	i := slices.IndexFunc(options, func(o question.Option[T]) bool { return o.Name == name }) // see agreed
	return options[i].Answer, nil
}

// agreed gives the open question about a folder the answer that a line holds, or says
// the fault of the line.
func (c *Server) agreed(l line, m consentMessage) {
	q := c.consent
	switch {
	case q == nil || q.id != m.ID:
		c.complain(l, m.ID, fmt.Sprintf("no question %.300q is open", m.ID))
	case !slices.Contains(q.names, m.Decision):
		c.complain(l, m.ID, fmt.Sprintf("the decision %.100q was not offered, only %s", m.Decision,
			strings.Join(q.names, ", ")))
	default:
		q.reply <- m.Decision
		c.consent = nil
	}
}
