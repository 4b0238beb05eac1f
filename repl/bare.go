package repl

import (
	"strings"

	"gemline/engine"
	"gemline/repl/output"
)

// bare is the text form: nothing but what the model says.
//
// What was written can't be taken back. The text of a turn is therefore held
// until it is known that it counts, unless the report is live.
type bare struct {
	*core
	text   output.UTF8
	turn   strings.Builder // not yet written
	wrote  bool
	inLine bool // the last byte written is no newline
	ends   int  // newlines that were held back, as the text may be over
	back   bool // a carriage return was held back
}

func (b *bare) begin(Init) {}

func (b *bare) event(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Text:
		b.say(b.visible(b.text.Feed(ev.Delta)))
	case engine.Retry:
		if ev.Restart {
			b.restart()
		}
	case engine.Notice:
		if b.Live {
			b.flush()
			b.line()
		}
	case engine.Answered:
		b.flush()
	case engine.Requested, engine.Called:
		b.flush()
		b.line()
	}
}

// visible returns s without the control characters that do not lay out text,
// and with those escaped that would put it in another order, hide in it, or go
// back to where a line begins. Such a one at the end of s may be half a line
// end, and is held back.
func (b *bare) visible(s string) string {
	if b.Raw {
		return s
	}
	if b.back {
		s = "\r" + s
	}
	s, b.back = strings.CutSuffix(s, "\r")
	return output.Visible(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, onwards(s)))
}

// onwards returns s with the carriage returns escaped that end no line.
func onwards(s string) string {
	if strings.Count(s, "\r") == strings.Count(s, "\r\n") {
		return s
	}
	var out strings.Builder
	for i := range len(s) {
		if s[i] == '\r' && !strings.HasPrefix(s[i+1:], "\n") {
			out.WriteString(`\x0d`)
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

func (b *bare) say(s string) {
	if !b.Live {
		b.turn.WriteString(s)
		return
	}
	b.print(s)
}

// restart forgets what is held of the turn. If anything of it was written, what
// follows begins on another line.
func (b *bare) restart() {
	b.text.Flush()
	b.back = false
	b.turn.Reset()
	b.line()
}

// flush writes what was held back of a turn.
func (b *bare) flush() {
	b.say(b.visible(b.text.Flush()))
	if b.back {
		b.say(`\x0d`)
		b.back = false
	}
	s := b.turn.String()
	b.turn.Reset()
	b.print(s)
}

// line ends the line that is being written, if any.
func (b *bare) line() {
	if b.inLine {
		b.print("\n")
	}
}

// print writes s, but of the newlines at its end only the first: the rest
// follow when something follows.
func (b *bare) print(s string) {
	if s == "" {
		return
	}
	body := strings.TrimRight(s, "\n")
	ends := len(s) - len(body)
	var out strings.Builder
	if body != "" {
		out.WriteString(strings.Repeat("\n", b.ends))
		out.WriteString(body)
		b.ends, b.inLine = 0, true
	}
	if ends > 0 && (b.inLine || !b.wrote) {
		out.WriteByte('\n')
		b.inLine = false
		ends--
	}
	b.ends += ends
	if out.Len() > 0 {
		b.wrote = true
		b.write([]byte(out.String()))
	}
}

func (b *bare) end(o Outcome) {
	if o.failed() && !b.Live { // what is held never came to count
		b.restart()
	}
	b.flush()
	b.line()
}
