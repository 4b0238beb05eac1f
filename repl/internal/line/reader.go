package line

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/repl/output"
)

// A Reader reads lines. Only Show, Restore and Echoes are safe for concurrent use.
type Reader struct {
	terminal *terminal
	by       lines
}

// lines is a way to read lines.
type lines interface {
	// line shows prompt and returns one line, which may be an answer.
	line(ctx context.Context, prompt string, answer bool) (string, error)

	// pasted returns first, which was just entered, and the text that was pasted with it.
	pasted(ctx context.Context, first string) ([]string, error)

	// typeAhead adds text that was typed between two reads. Drop removes such text and returns its
	// length in characters.
	typeAhead(typed []byte)
	drop() int

	// cancelEnd removes ends of the input that were read, and reports whether there was one.
	cancelEnd() bool

	// save sets text that was read and not returned aside, so that drop does not remove it, until
	// restore is called.
	save() (restore func())

	close() error
}

// A terminal is the source of lines, with the state that both implementations of lines share.
type terminal struct {
	Config
	src      *source
	jobs     *jobs // nil if another part handles stops
	deferred deferred
	reading  atomic.Bool        // a line is being typed
	wake     func()             // shows deferred messages while a line is typed
	modesOff string             // the sequence that ends the modes for editing a line
	stopped  string             // see [Reader.Stopped]
	offered  string             // see [Reader.Offer]
	inserted []string           // see [Reader.Pasted]
	composed string             // see [Reader.Composed]
	pasted   []string           // lines that arrived together between two reads
	listener *typeaheadListener // see [Reader.Listen]; nil without a listener
	take     func(lines []string) []LineAction
}

// New returns the Reader that fits c.
func New(c Config) (*Reader, error) {
	src, err := newSource(c.In)
	if err != nil {
		return nil, err
	}
	if src.decode = c.Decode; c.NoEcho {
		if err := src.echoOff(); err != nil {
			return nil, errors.Join(err, src.close())
		}
	}
	t := &terminal{Config: c, src: src, wake: func() {}}
	if !c.Mode.Smart || c.NoEcho || c.Screen == nil || !src.tty {
		return &Reader{t, newCooked(t)}, nil
	}
	e, err := newEditor(t)
	if err != nil {
		return nil, errors.Join(err, src.close())
	}
	return &Reader{t, e}, nil
}

// Read shows prompt and returns the user's input, which may have several lines. It returns io.EOF
// at the end of the input.
func (r *Reader) Read(ctx context.Context, prompt string) (string, error) {
	defer r.terminal.pauseListener()()
	r.terminal.inserted, r.terminal.composed = nil, ""
	r.terminal.src.awaitForeground(r.terminal.jobs)
	r.terminal.deferred.show()
	defer r.terminal.deferred.show()
	block := false // a block, which counts as composed even if it has one line
	g := multiline{typed: r.terminal.src.tty,
		next: func(prompt string) (string, error) {
			s, err := r.by.line(ctx, prompt, false)
			block = block || prompt != More && isFence(s)
			return s, err
		},
		more: func(first string) ([]string, error) {
			lines, err := r.by.pasted(ctx, first)
			if len(lines) > 1 {
				r.terminal.inserted = append(r.terminal.inserted, strings.Join(slices.DeleteFunc(slices.Clone(lines), isFence), "\n"))
			}
			return lines, err
		},
		held: func() {
			r.terminal.Out.Line(output.Info, "not sent yet: %s ends a block, Ctrl-C drops the typed text, Ctrl-D again ends the session", fence)
		}}
	if r.terminal.Edit != nil {
		g.edit = func(text string) (s string, err error) {
			s, err = compose(ctx, r.terminal.Config, r.Lend, text)
			r.terminal.composed = s
			return s, err
		}
	}
	s, err := g.read(prompt)
	if (err == nil || err == io.EOF) && r.terminal.History != nil && g.typed && strings.TrimSpace(s) != "" {
		r.terminal.History.Add(s)
	}
	if g.typed && strings.Contains(s, "\uFFFD") {
		r.terminal.Out.Line(output.Warning, "bytes that are not UTF-8 were typed, and are sent as U+FFFD; LC_ALL can name the terminal's charset")
	}
	line := strings.TrimSpace(s)
	ahead := slices.Index(r.terminal.pasted, line)
	if ahead >= 0 {
		r.terminal.pasted = slices.Delete(r.terminal.pasted, ahead, ahead+1)
	}
	if block || ahead >= 0 || slices.ContainsFunc(r.terminal.inserted, func(pasted string) bool {
		return strings.HasPrefix(line, strings.TrimSpace(pasted))
	}) {
		r.terminal.composed = s
	}
	return s, err
}

// Composed returns the last input if it begins with a paste, is a block or comes from an editor, and ""
// if it is a typed line.
func (r *Reader) Composed() string { return r.terminal.composed }

// Pasted returns the pasted parts of the last input, except short texts of one line: texts
// between the terminal's marks or, if it marks no pastes, lines that came together.
func (r *Reader) Pasted() []string { return r.terminal.inserted }

// Ask shows a question and returns its one-line answer.
func (r *Reader) Ask(ctx context.Context, question string) (string, error) {
	defer r.terminal.pauseListener()()
	if r.terminal.src.tty {
		r.terminal.src.awaitForeground(r.terminal.jobs)
		r.drop()
	}
	return r.by.line(ctx, question, true)
}

// Secret is Ask for a text that must not be shown, such as a key.
func (r *Reader) Secret(ctx context.Context, question string) (string, error) {
	if !r.terminal.src.tty {
		return r.by.line(ctx, question, true)
	}
	defer r.terminal.pauseListener()()
	r.drop()
	defer r.terminal.src.hideEcho()
	b, err := r.terminal.src.hidden(ctx, func() { r.terminal.Out.Prompt(question) })
	r.terminal.Out.Fresh()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", io.EOF
	}
	defer clear(b)
	return strings.Trim(clean(b), " \r"), nil
}

// drop drops text typed ahead and reports it. The terminal may have shown the text.
func (r *Reader) drop() {
	shown := r.terminal.src.echoes()
	n := r.by.drop() + r.askedAfter(r.terminal.src.drop())
	if n > 0 && shown {
		r.terminal.Out.Touched()
	}
	switch {
	case n == 1:
		r.terminal.Out.Line(output.Info, "1 character typed before the question was dropped")
	case n > 1:
		r.terminal.Out.Line(output.Info, "%d characters typed before the question were dropped", n)
	}
}

// Through gives the terminal to a command in a pseudo-terminal: use connects the two until it
// returns. If the platform or the input does not allow that, Through returns false without calling
// use. Keys that the command leaves unread count as typed ahead.
func (r *Reader) Through(use func(Connect)) bool {
	if !canTimeOut || !r.terminal.src.tty {
		return false
	}
	defer r.terminal.pauseListener()()
	r.by.typeAhead(r.terminal.src.passthrough(use))
	return true
}

// Close restores the terminal's original modes.
func (r *Reader) Close() error {
	if r.terminal.jobs != nil {
		r.terminal.jobs.close()
	}
	return errors.Join(r.by.close(), r.terminal.src.close())
}

// Show calls show when output does not disturb typing: above a prompt without typed text, or before
// and after the next input, but never at a question. It runs show on the goroutine that reads, or
// on its behalf.
func (r *Reader) Show(show func()) {
	if r.terminal.deferred.add(show); r.terminal.reading.Load() {
		r.terminal.wake()
	}
}

// Quiet hides text that is typed between two reads, until the next read.
func (r *Reader) Quiet(on bool) { r.terminal.src.setQuiet(on) }

// Stopped says that a turn ended early, by "stop" or "error". The next Read does not return text
// that was typed meanwhile. The text is in the line for editing, or is printed, and then Enter
// alone sends its complete lines. After an "error", an incomplete line can be continued. Lines that
// a program sends are always inputs.
func (r *Reader) Stopped(by string) { r.terminal.stopped = by }

// Echoes reports whether the terminal shows typed text right now.
func (r *Reader) Echoes() bool { return r.terminal.src.echoes() }

// Lend calls use with the terminal's original modes.
func (r *Reader) Lend(use func()) {
	defer r.terminal.pauseListener()()
	r.terminal.src.modes.restore()
	defer r.terminal.src.hideEcho()
	use()
}

// Restore restores the terminal's modes before an abrupt end of the program.
func (r *Reader) Restore() {
	if r.terminal.reading.Load() && r.terminal.modesOff != "" {
		io.WriteString(r.terminal.Screen, r.terminal.modesOff)
	}
	r.terminal.src.restore()
}

// deferred holds output that waits until it disturbs nobody.
type deferred struct {
	mu   sync.Mutex
	todo []func()
}

func (d *deferred) add(show func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.todo = append(d.todo, show)
}

// waits reports whether there is deferred output.
func (d *deferred) waits() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.todo) > 0
}

// show prints the deferred output, on the goroutine that owns the output.
func (d *deferred) show() {
	d.mu.Lock()
	todo := d.todo
	d.todo = nil
	d.mu.Unlock()
	for _, show := range todo {
		show()
	}
}

// Offer puts text into the next line, for editing. If that is impossible, Offer prints it.
func (r *Reader) Offer(text string) { r.terminal.offered = text }
