package report

import (
	"cmp"
	"io"

	"gemline/engine"
)

// A tee reports a run twice: as text for a reader, and as JSON for a program. It prints notices
// once.
type tee struct {
	text, data Reporter
	unwritten  func(error) Outcome
}

// newTee returns a tee whose JSON part newData makes.
func newTee(c Config, newData func(Config) Reporter) *tee {
	data := c
	data.Out, data.Err, data.JSON, data.Done = c.JSON, io.Discard, nil, nil
	c.JSON = nil
	return &tee{text: New("text", c), data: newData(data), unwritten: c.Unwritten}
}

// Begin implements [Reporter].
func (t *tee) Begin(in Init) {
	t.text.Begin(in)
	t.data.Begin(in)
}

// Event implements [Reporter].
func (t *tee) Event(ev engine.Event) {
	t.text.Event(ev)
	t.data.Event(ev)
}

// Finish implements [Reporter]. The record also has the outcome of writing the text.
func (t *tee) Finish(o Outcome) error {
	err := t.text.Finish(o)
	if err != nil && !o.Failed() {
		if o = (Outcome{Err: err}); t.unwritten != nil {
			o = t.unwritten(err)
		}
	}
	return cmp.Or(err, t.data.Finish(o))
}
