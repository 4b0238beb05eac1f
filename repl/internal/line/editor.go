package line

import (
	"context"
	"io"

	"golang.org/x/term"

	"gemline/repl/output"
)

// An editor reads the keys of a terminal that can move the cursor, edits the line, and draws it.
type editor struct {
	terminal *terminal
	in       *keys
	screen   *screen
	library  *library // edits the line on a limited terminal, else nil

	left   bool // the terminal is gone
	asking bool // the line is the answer to a question
	ctx    context.Context
	prompt string

	buf    buffer
	vi     vi
	useVi  bool
	recall recall
	last   rune // the key before
	pastes pastes
}

func newEditor(t *terminal) (*editor, error) {
	e := &editor{terminal: t, pastes: pastes{texts: map[string]string{}}}
	e.buf.atoms = e.pastes.names
	e.recall = recall{buf: &e.buf, shown: e.pastes.fold}
	e.in = newKeys(t.src, t.Keymap, e.pastes.pasted)
	e.screen = &screen{w: t.Out.Terminal(), width: func() int { w, _ := e.size(); return w }}
	if t.Mode.Limited {
		var err error
		if e.library, err = newLibrary(e); err != nil {
			return nil, err
		}
	}
	t.wake = func() { e.in.inject(string(opShow)) }
	if t.Mode.Marks {
		t.modesOff = pasteOff
	}
	if t.Jobs {
		t.jobs = newJobs(&t.src.modes, e.stopping, e.resumed)
	}
	return e, nil
}

// size returns the width and height of the screen, if known.
func (e *editor) size() (width, height int) {
	w, h, err := term.GetSize(int(e.terminal.Config.Screen.Fd()))
	if err != nil || w <= 0 {
		w = 80
	}
	return w, max(0, h)
}

// pasted returns only first, which contains the whole paste.
func (e *editor) pasted(_ context.Context, first string) ([]string, error) {
	return []string{first}, nil
}

func (e *editor) typeAhead(typed []byte) { e.in.typed(typed) }

func (e *editor) drop() int { return e.in.drop() }

func (e *editor) cancelEnd() bool { return e.in.cancelEnd() }

func (e *editor) save() (restore func()) { return e.in.save() }

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// bracket switches the marks around pastes on or off, on terminals that may support them.
func (e *editor) bracket(sequence string) {
	if e.terminal.Config.Mode.Marks {
		io.WriteString(e.terminal.Config.Out.Terminal(), sequence)
	}
}

// line lets the user edit one line.
func (e *editor) line(ctx context.Context, prompt string, answer bool) (string, error) {
	e.asking = answer
	if e.left {
		return "", io.EOF
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	e.terminal.src.awaitForeground(e.terminal.jobs)
	e.useVi = e.terminal.Config.Vi != nil && e.terminal.Config.Vi()
	typed := e.terminal.src.typeAhead()
	e.in.expect(e.useVi, !e.terminal.Config.Single && !e.asking && !e.terminal.src.waiting())
	e.in.typed(typed)
	if e.terminal.stopped != "" && (e.terminal.stopped != stoppedByError || e.in.entered()) {
		e.in.inject(e.pastes.fold(e.in.unsent()))
	}
	e.terminal.stopped = ""
	if e.terminal.offered != "" && !answer {
		e.in.inject(e.pastes.fold(e.terminal.offered))
		e.terminal.offered = ""
	}
	e.terminal.Config.Out.Fresh()
	restore, err := e.terminal.src.raw()
	if err != nil {
		e.left = true
		return "", io.EOF // the terminal is gone
	}
	defer e.terminal.src.hideEcho()
	defer restore()
	e.bracket(pasteOn)
	defer e.bracket(pasteOff)
	e.begin(ctx, prompt)

	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		e.in.inject("\x03")
		close(cut)
	})
	e.in.activate(true)
	e.terminal.reading.Store(true)
	if e.terminal.deferred.waits() { // Show was called after Read began, but before reading was set
		e.terminal.wake()
	}
	s, err := e.edit()
	e.terminal.reading.Store(false)
	e.in.activate(false)
	if !stop() {
		<-cut
		e.in.drop()
	}
	e.left = e.in.over()
	switch {
	case err == ErrInterrupt && (ctx.Err() == nil || context.Cause(ctx) == ErrInterrupt): // otherwise nobody pressed Ctrl-C
		e.screen.end("^C")
	case !e.left:
		e.screen.end("")
	}
	e.terminal.Config.Out.Entered()
	if context.Cause(ctx) == ErrSuperseded && !answer {
		e.terminal.offered = e.pastes.expand(s)
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == ErrInterrupt && s != "":
		return "", ErrCleared
	case err == ErrInterrupt:
		return "", ErrInterrupt
	case err != nil:
		return "", err
	}
	defer e.pastes.clear()
	e.terminal.inserted = e.pastes.within(s)
	return e.pastes.expand(s), nil
}

// begin prepares a new line.
func (e *editor) begin(ctx context.Context, prompt string) {
	e.ctx, e.prompt, e.last = ctx, output.EscapeLine(prompt), 0
	e.buf.reset()
	e.vi.insertMode()
	if e.recall.begin(e.terminal.Config.History); e.asking { // an arrow key must not answer
		e.recall.begin(nil)
	}
	e.screen.marked = e.terminal.Config.Mode.Marks && !e.asking && prompt != More
	e.draw()
}

// edit handles keys until the line has ended.
func (e *editor) edit() (string, error) {
	if e.library != nil {
		return e.library.edit()
	}
	for {
		key, err := e.in.next()
		if err != nil {
			return "", err
		}
		if ended, how := e.ends(key); ended {
			return string(e.buf.text), how
		}
		e.press(key)
		e.last = key
		e.draw()
	}
}

// ends reports whether key ends the line, and with which error: nil for Enter.
func (e *editor) ends(key rune) (ended bool, how error) {
	switch {
	case key == '\r', key == '\n':
	case key == ctrlC:
		how = ErrInterrupt
	case key == opDeleteOrEnd && len(e.buf.text) == 0 && !e.recall.searching:
		how = io.EOF
	default:
		return false, nil
	}
	e.recall.searching = false
	e.draw()
	return true, how
}

func (e *editor) close() error {
	e.in.Close()
	if e.library != nil {
		return e.library.close()
	}
	return nil
}
