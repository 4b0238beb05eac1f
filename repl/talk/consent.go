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

// ErrGone is the error of a question about trust that is open at the end of the input.
var ErrGone = errors.New("nobody is there to answer: the input has ended")

// An openConsent is the open question about the folder.
type openConsent struct {
	id    string
	names []string    // of the possible answers
	reply chan string // buffered; closed without an answer
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

// Trust asks the client whether a folder is trusted and may run its items, before the conversation
// or in a turn. Its error is [ErrGone] without an answer.
func (c *Server) Trust(ctx context.Context, f question.Folder) (question.TrustAnswer, error) {
	r := consentRecord{About: "folder", Title: f.Title(), Folder: output.EscapeLine(f.Path),
		Wishes: wishItems(f.Path, f.Items)}
	for i, b := range f.Contents {
		r.Brings = append(r.Brings, broughtLine{output.EscapeLine(b), i < len(f.Caution) && f.Caution[i]})
	}
	return consult(ctx, c, r, f.Options())
}

// Consent asks the client whether a folder's items may run, before the conversation or in a turn.
// Without an answer, they do not run this time.
func (c *Server) Consent(ctx context.Context, folder string, wishes []question.ConsentItem) (question.Consent, error) {
	r := consentRecord{About: "commands", Title: question.ConsentTitle(folder, wishes),
		Folder: output.EscapeLine(folder), Wishes: wishItems(folder, wishes)}
	answer, err := consult(ctx, c, r, question.ConsentOptions(wishes))
	if errors.Is(err, ErrGone) {
		return question.NotThisTime, nil
	}
	return answer, err
}

// wishItems returns a folder's items, each with its files.
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

// consult asks the client about a folder, and returns the answer.
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

// agreed answers the open question about a folder by a line, or reports the line's problem.
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
