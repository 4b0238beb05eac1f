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
		e.spill()
	case value != nil:
		e.write(append(visibly(value), '\n'))
	case code != nil:
		e.textForm.event(engine.Text{Delta: *code})
		e.textForm.end(o)
	}
}

// spill tells on standard error what the model said instead of code.
func (e *extracted) spill() {
	text := e.Schema.text()
	if e.Schema.Schema != nil || text == "" {
		return
	}
	b := newText(&core{Config: Config{Out: e.Err, Raw: e.Raw}})
	b.event(engine.Text{Delta: text})
	b.end(Outcome{})
}

// visibly returns compact JSON in which no character is hidden, moves others or
// controls a terminal. They can only stand in strings, so that the value is the
// same.
func visibly(value []byte) []byte {
	var out []byte
	for _, r := range string(value) {
		s := string(r)
		switch {
		case r >= 0x20 && r < 0x7f || r >= 0xa0 && output.Visible(s) == s:
			out = append(out, s...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
