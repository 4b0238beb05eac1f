package batch

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"

	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/repl/report"
)

// An itemReport is the Reporter of one item. It reports the fields of an item, followed by those of
// a one-shot run in the json format.
type itemReport struct {
	report.Reporter
	document bytes.Buffer
	model    string
	job      string // the server's job that answered, if any
}

func newItemReport(r report.Config) *itemReport {
	s := &itemReport{}
	r.Out, r.Now = &s.document, time.Now
	s.Reporter = report.New("json", r)
	return s
}

// Begin implements [report.Reporter].
func (s *itemReport) Begin(in report.Init) {
	s.model = in.Model
	s.Reporter.Begin(in)
}

// A head is the beginning of the record of an item.
type head struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
	Model   string `json:"model,omitempty"`
	Job     string `json:"job,omitempty"`
}

// finish ends the report, and returns e with its outcome and record.
func (s *itemReport) finish(it Item, e entry, o report.Outcome) entry {
	s.Finish(o) // writing to memory can't go wrong
	h := head{Type: "item", Index: it.Index, ID: it.ID, Attempt: e.attempt, Model: s.model, Job: s.job}
	e.reason = "completed"
	if o.Err != nil || o.ExitCode != 0 {
		e.code, e.reason = max(1, o.ExitCode), o.Reason
	}
	begin, err := text.JSON(h, "")
	if err != nil {
		panic(err) // a mistake in this package
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(begin, []byte("}")))
	b.WriteByte(',')
	mark := b.Len()
	if err := json.Compact(&b, s.document.Bytes()); err != nil {
		panic(err) // a mistake of the printer's
	}
	e.record = output.JSON(append(b.Bytes()[:mark:mark], b.Bytes()[mark+len("{"):]...))
	return e
}

// A noteWriter passes on the notices about an item, line by line, behind the item's id. The item's
// record also has the numbers and the errors.
type noteWriter struct {
	notify     func(string)
	id         string
	quiet      bool
	unreleased bool // until it is released
	text       strings.Builder
}

// Write implements [io.Writer].
func (m *noteWriter) Write(b []byte) (int, error) {
	if m.unreleased {
		return m.text.Write(b)
	}
	for l := range strings.Lines(string(b)) {
		if !m.quiet {
			m.notify("item " + brief(m.id) + ": " + strings.TrimRight(l, "\n"))
		}
	}
	return len(b), nil
}

// release writes the held text. Later text is written at once.
func (m *noteWriter) release() {
	m.unreleased = false
	io.WriteString(m, m.text.String())
}
