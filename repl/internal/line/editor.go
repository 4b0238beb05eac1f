package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/chzyer/readline"
	"golang.org/x/term"
)

// An editor reads lines with readline, which sees neither the terminal's input
// nor its output as they are. Readline hands it every key, and is told what
// the line is then.
//
// While Read waits, keys are handled on readline's goroutine, and everything
// below belongs to that one, unless it says something else.
type editor struct {
	Config
	src    *source
	in     *keys
	screen *screen
	rl     *readline.Instance
	jobs   *jobs
	held   held

	reading atomic.Bool // a line is being typed
	stopped bool        // see [Reader].Stopped
	left    bool        // readline has ended and must not be asked again
	asking  bool        // the line is the answer to a question
	ctx     context.Context
	prompt  string

	buf     buffer
	vi      vi
	useVi   bool
	walk    walk
	literal rune // what opLiteral stands for
	last    rune // the op before

	mu     sync.Mutex // pastes come on the goroutine that reads keys
	pastes map[string]string
}

func newEditor(c Config, src *source) (*editor, error) {
	e := &editor{Config: c, src: src, pastes: map[string]string{}}
	e.buf.atoms = e.names
	e.in = newKeys(src, e.pasted)
	e.screen = &screen{w: c.Out.Terminal(), width: func() int { w, _ := e.size(); return w }}
	cfg := &readline.Config{
		Stdin: e.in, Stdout: e.screen, Stderr: e.screen,
		HistoryLimit: -1, DisableAutoSaveHistory: true,
		InterruptPrompt: "^C", EOFPrompt: "\n",
		Painter:             painter{},
		FuncGetWidth:        func() int { return endless },
		FuncOnWidthChanged:  func(func()) {},
		FuncIsTerminal:      func() bool { return true },
		FuncMakeRaw:         func() error { return nil }, // done in edit, where it is undone too
		FuncExitRaw:         func() error { return nil },
		FuncFilterInputRune: func(r rune) (rune, bool) { return e.filter(r), true },
	}
	cfg.SetListener(e.listen)
	rl, err := readline.NewEx(cfg)
	if err != nil {
		return nil, errors.Join(err, src.close())
	}
	e.rl = rl
	if c.Jobs {
		e.jobs = control(&src.modes, e.stopping, e.resumed)
	}
	return e, nil
}

// size returns how wide and how high the screen is, as far as it knows.
func (e *editor) size() (width, height int) {
	w, h, err := term.GetSize(int(e.Screen.Fd()))
	if err != nil || w <= 0 {
		w = 80
	}
	return w, max(0, h)
}

// Terminal implements [Reader].
func (e *editor) Terminal() bool { return true }

// Echoes implements [Reader].
func (e *editor) Echoes() bool { return e.src.echoes() }

// Quiet implements [Reader].
func (e *editor) Quiet(on bool) { e.src.setQuiet(on) }

// Stopped implements [Reader].
func (e *editor) Stopped() { e.stopped = true }

// SetVi implements [Reader].
func (e *editor) SetVi(on bool) {
	e.useVi = on
	e.in.setVi(on)
}

// Show implements [Reader].
func (e *editor) Show(show func()) {
	if e.held.add(show); e.reading.Load() {
		e.in.inject(string(opShow))
	}
}

// Restore implements [Reader].
func (e *editor) Restore() {
	if e.reading.Load() {
		io.WriteString(e.Screen, pasteOff)
	}
	e.src.modes.restore()
}

// Lend implements [Reader].
func (e *editor) Lend(use func()) {
	e.src.modes.restore()
	defer e.src.hush()
	use()
}

// Through implements [Reader].
func (e *editor) Through(use func(Connect)) bool {
	if patient {
		e.in.typed(e.src.through(use))
	}
	return patient
}

// Read implements [Reader].
func (e *editor) Read(ctx context.Context, prompt string) (string, error) {
	g := gatherer{typed: true, next: func(prompt string) (string, error) { return e.edit(ctx, prompt) }}
	if e.Config.Edit != nil {
		g.edit = func(text string) (string, error) { return compose(ctx, e.Config, e.Lend, text) }
	}
	s, err := g.gather(prompt)
	if err == nil && strings.TrimSpace(s) != "" {
		e.History.Add(s)
	}
	return s, err
}

// Ask implements [Reader].
func (e *editor) Ask(ctx context.Context, question string) (answer string, dropped int, err error) {
	e.src.claim(e.jobs)
	dropped = e.drop()
	e.asking = true
	defer func() { e.asking = false }()
	answer, err = e.edit(ctx, question)
	return answer, dropped, err
}

// Secret implements [Reader].
func (e *editor) Secret(ctx context.Context, question string) (string, error) {
	e.drop()
	return secret(ctx, e.src, e.Out, question)
}

// drop drops what was typed ahead and says so.
func (e *editor) drop() int {
	shown := e.src.echoes()
	n := e.in.forget() + utf8.RuneCount(e.src.drop())
	if n > 0 {
		told(e.Out, n, shown)
	}
	return n
}

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// edit lets the user edit one line.
func (e *editor) edit(ctx context.Context, prompt string) (string, error) {
	if e.left {
		return "", io.EOF
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	e.src.claim(e.jobs)
	e.held.show()
	e.in.typed(e.src.ahead())
	if e.stopped {
		e.in.inject(e.folded(e.in.unsent()))
		e.stopped = false
	}
	e.in.setTogether(!e.Single && !e.asking && !e.src.waiting())
	e.Out.Fresh()
	restore, err := e.src.raw()
	if err != nil {
		e.left = true
		return "", io.EOF // the terminal is gone
	}
	defer e.held.show()
	defer e.src.hush()
	defer restore()
	io.WriteString(e.Out.Terminal(), pasteOn)
	defer io.WriteString(e.Out.Terminal(), pasteOff)
	e.begin(ctx, prompt)

	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { e.in.inject(string(opKillAll) + "\x03"); close(cut) })
	e.in.activate(true)
	e.reading.Store(true)
	s, err := e.rl.Readline()
	e.reading.Store(false)
	e.in.activate(false)
	if !stop() {
		<-cut
		e.in.forget()
	}
	e.Out.Entered()
	e.left = e.in.over()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == readline.ErrInterrupt && s != "":
		return "", ErrCleared
	case err == readline.ErrInterrupt:
		return "", ErrInterrupt
	case err != nil:
		return "", err
	}
	return e.unfold(s), nil
}

// begin makes everything ready for a new line.
func (e *editor) begin(ctx context.Context, prompt string) {
	e.ctx, e.prompt, e.last = ctx, prompt, 0
	e.buf.reset()
	e.vi.insertMode()
	if e.walk.begin(e.History); e.asking { // an arrow key must not answer
		e.walk.begin(nil)
	}
	e.screen.marked = e.Marks && !e.asking && prompt != More
	e.rl.SetPrompt(string(markPrompt) + prompt)
}

// Close implements [Reader].
func (e *editor) Close() error {
	if e.jobs != nil {
		e.jobs.close()
	}
	if !e.left {
		e.left = true
		e.in.Close()
		e.rl.SetPrompt("") // which draws nothing
		e.rl.Readline()    // returns at once, when readline's goroutines have
	}
	return errors.Join(e.rl.Config.Stdin.Close(), e.src.close())
}

// longPaste is how much of a paste is shown as it is.
const longPaste = 800

// folded returns a remembered input as it stands in the line again.
func (e *editor) folded(s string) string {
	s = harmless([]byte(s))
	if len(s) > longPaste {
		return e.named(s)
	}
	return strings.ReplaceAll(s, "\n", string(newlineMark))
}

// pasted returns what stands in the line for a paste: itself if it is short
// and of one line.
func (e *editor) pasted(text string) string {
	if !strings.ContainsAny(text, "\n\t") && len(text) <= longPaste {
		return text
	}
	return e.named(text)
}

// named keeps text and returns the name that stands for it.
func (e *editor) named(text string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	name := fmt.Sprintf("[paste %d: %d lines, %d characters]", len(e.pastes)+1, lines, utf8.RuneCountInString(text))
	e.pastes[name] = text
	return name
}

// names returns the names of all pastes.
func (e *editor) names() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := make([]string, 0, len(e.pastes))
	for name := range e.pastes {
		names = append(names, name)
	}
	return slices.Clip(names)
}

// unfold puts the pastes back into the line.
func (e *editor) unfold(s string) string {
	s = e.whole(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.pastes)
	return s
}

// whole returns the line as it would be sent.
func (e *editor) whole(s string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	pairs := []string{string(newlineMark), "\n"}
	for name, text := range e.pastes {
		pairs = append(pairs, name, text)
	}
	return strings.NewReplacer(pairs...).Replace(s) // once, so that a paste may name another
}
