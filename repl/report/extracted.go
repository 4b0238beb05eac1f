package report

import (
	"fmt"

	"gemline/engine"
	"gemline/repl/output"
)

// extracted is the text form of a run with an [OutputSchema]: what the answer must
// hold, or nothing.
type extracted struct {
	textForm
}

func (e *extracted) event(engine.Event) {}

func (e *extracted) end(o Outcome) {
	value, code := e.Schema.met()
	switch {
	case o.Failed():
		e.tellText()
	case value != nil:
		e.write(fmt.Appendf(nil, "%s\n", output.VisibleJSON(value)))
	case code != nil:
		e.textForm.event(engine.Text{Delta: *code})
		e.textForm.end(o)
	}
}

// tellText tells on standard error what the model said instead of code.
func (e *extracted) tellText() {
	text := e.Schema.text()
	if e.Schema.Schema != nil || text == "" {
		return
	}
	b := newText(&core{Config: Config{Out: e.Err, Raw: e.Raw}})
	b.event(engine.Text{Delta: text})
	b.end(Outcome{})
}
