package line

import (
	"context"
	"strings"

	"gemline/repl/output"
)

// draw shows the present line.
func (e *editor) draw() {
	prompt := e.prompt
	if e.recall.searching {
		prompt = output.Escape(e.recall.prompt())
	}
	e.screen.draw(prompt, show(string(e.buf.text[:e.buf.pos])), show(string(e.buf.text[e.buf.pos:])))
}

// press carries out a key.
func (e *editor) press(op rune) {
	switch {
	case op == opShow:
		if !e.asking && e.prompt != More && len(e.buf.text) == 0 && !e.recall.searching && e.terminal.deferred.waits() {
			e.aside(e.terminal.deferred.show)
		}
		return
	case e.recall.searching && e.searchOp(op):
		return
	case !isOp(op) && e.useVi && e.vi.command:
		if op = e.vi.key(&e.buf, op); op == 0 {
			return
		}
	case !isOp(op):
		e.buf.insert(op)
		return
	}
	switch op {
	case opEscape:
		if e.useVi {
			e.vi.escape(&e.buf)
		}
	case opPrev:
		e.recall.step(-1)
	case opNext:
		e.recall.step(1)
	case opSearch:
		if !e.asking {
			e.recall.search(-1)
		}
	case opComplete:
		e.complete()
	case opMode:
		e.nextMode()
	case opEdit:
		e.compose()
	case opStop:
		e.stop()
	case opResume:
		e.aside(func() { e.raw() })
	case opRedraw:
		e.aside(func() {})
	case opDeleteOrEnd:
		e.buf.do(opDelete)
	default:
		e.buf.do(op)
	}
}

// searchOp carries out an op during a search of the history. If it returns false, the op has ended
// the search and must still be carried out.
func (e *editor) searchOp(op rune) bool {
	switch op {
	case opRubout:
		e.recall.widen()
	case opSearch:
		e.recall.search(-1)
	case opSearchOn:
		e.recall.search(1)
	case opAbort:
		e.recall.abort()
	case opResume, opRedraw:
		return false
	default:
		if !isOp(op) {
			e.recall.narrow(op)
			return true
		}
		e.recall.searching = false
		return op == opEscape || op == opComplete
	}
	return true
}

// aside calls write on a new line, and draws the edited line again below.
func (e *editor) aside(write func()) {
	e.screen.leave()
	e.terminal.Config.Out.Entered()
	write()
	e.terminal.Config.Out.Fresh()
}

// raw takes the terminal back from another program.
func (e *editor) raw() {
	e.terminal.src.raw()
	e.bracket(pasteOn)
}

// lend gives the terminal to use, while use runs.
func (e *editor) lend(use func()) {
	e.in.activate(false)
	defer e.in.activate(true)
	e.bracket(pasteOff)
	e.terminal.src.modes.restore()
	defer e.raw()
	use()
}

// nextMode changes to another mode of the session, and shows the new prompt.
func (e *editor) nextMode() {
	if e.terminal.Config.NextMode == nil || e.asking {
		return
	}
	var prompt string
	e.aside(func() { prompt = e.terminal.Config.NextMode() })
	if e.prompt != More {
		e.prompt = output.Escape(prompt)
	}
}

// compose opens the line in the user's editor.
func (e *editor) compose() {
	if e.terminal.Config.Edit == nil || e.asking {
		return
	}
	var text string
	var err error
	e.aside(func() {
		e.lend(func() {
			text, err = e.terminal.Config.Edit(context.WithoutCancel(e.ctx), draft, e.pastes.expand(string(e.buf.text)))
		})
		if err != nil && e.ctx.Err() == nil {
			e.terminal.Config.Out.Line(output.Failure, "%v", err)
		}
	})
	if err == nil {
		back := []rune(e.pastes.fold(strings.TrimRight(text, " \t\r\n")))
		e.buf.set(back, len(back))
	}
}

// stop stops the program, if it can be continued.
func (e *editor) stop() {
	if e.terminal.jobs == nil {
		return
	}
	e.aside(func() { e.lend(func() { e.terminal.jobs.stop() }) })
}

// stopping is called when a signal is about to stop the program. While a line is edited, it acts
// like Ctrl-Z.
func (e *editor) stopping() bool {
	if !e.terminal.reading.Load() {
		return false
	}
	e.in.inject(string(opStop))
	return true
}

// resumed is called when the program continues after an unexpected stop.
func (e *editor) resumed() {
	if e.terminal.reading.Load() {
		e.in.inject(string(opResume))
		return
	}
	e.terminal.src.hideEcho()
}

// complete completes the text before the cursor; asked twice in a row, it
// shows the candidates.
func (e *editor) complete() {
	if e.terminal.Config.Complete == nil || e.asking {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, completeWithin)
	defer cancel()
	start, insert, list := completion(e.buf.text, e.buf.pos, func(line string, at int) (int, []Candidate) {
		return e.terminal.Config.Complete(ctx, line, at)
	})
	if len(list) == 0 {
		if insert != nil {
			e.replace(start, insert)
		}
		return
	}
	if e.last != opComplete {
		return
	}
	_, rows := e.size()
	e.aside(func() {
		for _, l := range listed(list, rows) {
			e.terminal.Config.Out.Text(plainText(l) + "\n")
		}
	})
}

// replace puts text in the place of the text from start up to the cursor.
func (e *editor) replace(start int, text []rune) {
	b := &e.buf
	b.set(append(append(append([]rune{}, b.text[:start]...), text...), b.text[b.pos:]...), start+len(text))
}
