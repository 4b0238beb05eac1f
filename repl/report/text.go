package report

import (
	"strings"

	"gemline/engine"
	"gemline/repl/output"
)

// textForm is the text form: only the model's text.
//
// Written text can't be removed. So the text of an answer is held until the answer can no longer be
// restarted, unless the report is live.
type textForm struct {
	silentStart
	core    *core
	utf8    output.UTF8
	pending strings.Builder // not written yet
	wrote   bool
	inLine  bool // the last written byte is no newline
	ends    int  // held newlines, since the text may be over
	back    bool // a held carriage return
}

func newText(c *core) textForm { return textForm{core: c, utf8: output.UTF8{Raw: c.Text.Raw}} }

// silentStart is the start of a form without output at its start.
type silentStart struct{}

func (silentStart) begin(Init) {}

func (t *textForm) event(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Text:
		t.say(t.visible(t.utf8.Feed(ev.Delta)))
	case engine.Retry:
		if ev.Restart {
			t.restart()
		}
	case engine.Notice:
		if t.core.Text.Live {
			t.flush()
		}
		t.line() // standard error may be the same file
	case engine.AnswerFinished:
		t.flush()
	case engine.Citations:
		if t.core.Text.Uncited {
			return
		}
		t.line()
		for _, r := range ev.References {
			t.core.tell(output.Info, "source: "+r.String())
		}
	case engine.RequestStarted, engine.CallRequested, engine.CallStarted: // CallStarted also begins a check
		t.flush()
		t.line()
	}
}

// visible removes control characters of s that do not lay out text. It escapes characters that
// would reorder text, hide in it, or return to the start of a line. It holds a carriage return at
// the end of s, which may be half a line end.
func (t *textForm) visible(s string) string {
	if t.core.Text.Raw {
		return s
	}
	if t.back {
		s = "\r" + s
	}
	s, t.back = strings.CutSuffix(s, "\r")
	return output.Visible(strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, escapeReturns(s)))
}

// escapeReturns escapes the carriage returns in s that end no line.
func escapeReturns(s string) string {
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

func (t *textForm) say(s string) {
	if !t.core.Text.Live {
		t.pending.WriteString(s)
		return
	}
	t.print(s)
}

// restart drops the held part of the answer. If a part was written already, the next text begins on
// a new line.
func (t *textForm) restart() {
	t.utf8.Flush()
	t.back = false
	t.pending.Reset()
	t.line()
}

// flush writes the held text of an answer, and ends its line.
func (t *textForm) flush() {
	t.say(t.visible(t.utf8.Flush()))
	if t.back {
		t.say(`\x0d`)
		t.back = false
	}
	s := t.pending.String()
	t.pending.Reset()
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n" // in the same write: other programs may write to the same pipe
	}
	t.print(s)
}

// line ends the open line, if any.
func (t *textForm) line() {
	if t.inLine {
		t.print("\n")
	}
}

// print writes s. Of the newlines at the end of s it writes only the first; the others follow with
// the next text.
func (t *textForm) print(s string) {
	if s == "" {
		return
	}
	body := strings.TrimRight(s, "\n")
	ends := len(s) - len(body)
	var out strings.Builder
	if body != "" {
		out.WriteString(strings.Repeat("\n", t.ends))
		out.WriteString(body)
		t.ends, t.inLine = 0, true
	}
	if ends > 0 && (t.inLine || !t.wrote) {
		out.WriteByte('\n')
		t.inLine = false
		ends--
	}
	t.ends += ends
	if out.Len() > 0 {
		t.wrote = true
		t.core.write([]byte(out.String()))
	}
}

func (t *textForm) end(o Outcome) {
	if o.Failed() && !t.core.Text.Live { // the held text is not final
		t.restart()
	}
	t.flush()
	t.line()
}
