package repl

import (
	"io"

	"gemline/engine"
)

// both reports the same run twice: as text for a reader, and as JSON for a
// program. What is told beside the answer, is told once.
type both struct {
	text, data Reporter
	unwritten  func(error) Outcome
}

func newBoth(format string, r Report) Reporter {
	if format != "stream-json" {
		format = "json"
	}
	data := r
	data.Out, data.Err, data.JSON, data.Done = r.JSON, io.Discard, nil, nil
	r.JSON = nil
	return &both{text: NewReporter("text", r), data: NewReporter(format, data), unwritten: r.Unwritten}
}

// Begin implements [Reporter].
func (b *both) Begin(in Init) {
	b.text.Begin(in)
	b.data.Begin(in)
}

// Event implements [Reporter].
func (b *both) Event(ev engine.Event) {
	b.text.Event(ev)
	b.data.Event(ev)
}

// Finish implements [Reporter]. The record says what became of the text, too.
func (b *both) Finish(o Outcome) error {
	err := b.text.Finish(o)
	if err != nil && !o.failed() {
		if o = (Outcome{Err: err}); b.unwritten != nil {
			o = b.unwritten(err)
		}
	}
	if jerr := b.data.Finish(o); err == nil {
		err = jerr
	}
	return err
}
