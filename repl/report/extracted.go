package report

import (
	"fmt"

	"gemline/engine"
	"gemline/repl/output"
)

// extracted is the text form of a run with an [OutputSchema]: it prints only the required value or
// code.
type extracted struct {
	silentStart
	text textForm
}

func (e *extracted) event(engine.Event) {}

func (e *extracted) end(o Outcome) {
	value, code := e.text.core.Schema.met()
	switch {
	case o.Failed():
		e.tellText()
	case value != nil:
		e.text.core.write(fmt.Appendf(nil, "%s\n", output.VisibleJSON(value)))
	case code != nil:
		e.text.event(engine.Text{Delta: *code})
		e.text.end(o)
	}
}

// tellText prints the model's text on standard error if it has no code.
func (e *extracted) tellText() {
	text := e.text.core.Schema.text()
	if e.text.core.Schema.Schema != nil || text == "" {
		return
	}
	b := newText(&core{Config: Config{Out: e.text.core.Err, Text: Text{Raw: e.text.core.Text.Raw}}})
	b.event(engine.Text{Delta: text})
	b.end(Outcome{})
}
