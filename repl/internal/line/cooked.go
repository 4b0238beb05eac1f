package line

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"gemline/repl/output"
)

// cooked reads what the terminal's own line discipline, or a pipe, hands out.
type cooked struct {
	Config
	src  *source
	out  *output.Writer
	jobs *jobs

	held    held
	reading atomic.Bool
	buf     []byte
	over    bool  // the end of the input was typed behind buf
	stopped bool  // see [Reader].Stopped
	open    bool  // nothing was typed before the prompt was shown
	end     error // what ended the input, nil before
}

func newCooked(c Config, src *source) *cooked {
	r := &cooked{Config: c, src: src, out: c.Out}
	if c.Jobs && src.terminal() {
		r.jobs = control(&src.modes, func() bool { return false }, r.resumed)
	}
	return r
}

// resumed is called when the program goes on after a stop.
func (c *cooked) resumed() {
	if c.reading.Load() {
		c.src.resume()
		return
	}
	c.src.hush()
}

// Terminal implements [Reader].
func (c *cooked) Terminal() bool { return c.src.terminal() }

// Echoes implements [Reader].
func (c *cooked) Echoes() bool { return c.src.echoes() }

// Quiet implements [Reader].
func (c *cooked) Quiet(on bool) { c.src.setQuiet(on) }

// Stopped implements [Reader]. A program that sends lines means each of them.
func (c *cooked) Stopped() { c.stopped = c.src.terminal() && !c.Single }

// SetVi implements [Reader]. The terminal has keys of its own.
func (c *cooked) SetVi(bool) {}

// Show implements [Reader].
func (c *cooked) Show(show func()) { c.held.add(show) }

// Restore implements [Reader].
func (c *cooked) Restore() { c.src.restore() }

// Close implements [Reader].
func (c *cooked) Close() error {
	if c.jobs != nil {
		c.jobs.close()
	}
	return c.src.close()
}

// Lend implements [Reader].
func (c *cooked) Lend(use func()) {
	c.src.modes.restore()
	defer c.src.hush()
	use()
}

// Through implements [Reader].
func (c *cooked) Through(use func(Connect)) bool {
	if !patient || !c.src.terminal() {
		return false
	}
	c.take(c.src.through(use))
	return true
}

// Read implements [Reader].
func (c *cooked) Read(ctx context.Context, prompt string) (string, error) {
	g := gatherer{typed: c.src.terminal(), next: func(prompt string) (string, error) { return c.line(ctx, prompt) }}
	if c.Edit != nil {
		g.edit = func(text string) (string, error) { return compose(ctx, c.Config, c.Lend, text) }
	}
	if patient && g.typed && !c.Single {
		g.more = func(first string) ([]string, error) { return c.pasted(ctx, first) }
	}
	s, err := g.gather(prompt)
	if err == nil && c.History != nil && g.typed && strings.TrimSpace(s) != "" {
		c.History.Add(s)
	}
	return s, err
}

// Ask implements [Reader].
func (c *cooked) Ask(ctx context.Context, question string) (answer string, dropped int, err error) {
	if c.src.terminal() {
		c.src.claim(c.jobs)
		dropped = c.drop()
	}
	answer, err = c.line(ctx, question)
	return answer, dropped, err
}

// drop drops what was typed ahead and says so.
func (c *cooked) drop() int {
	shown := c.src.echoes()
	n := utf8.RuneCount(c.buf) + utf8.RuneCount(c.src.drop())
	if c.buf, c.over = nil, false; n > 0 {
		told(c.out, n, shown)
	}
	return n
}

// Secret implements [Reader].
func (c *cooked) Secret(ctx context.Context, question string) (string, error) {
	if !c.src.terminal() {
		return c.line(ctx, question)
	}
	c.drop()
	return secret(ctx, c.src, c.out, question)
}

// secret asks for what is not shown.
func secret(ctx context.Context, src *source, out *output.Writer, question string) (string, error) {
	defer src.hush()
	b, err := src.hidden(ctx, func() { out.Prompt(question) })
	out.Fresh()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", io.EOF
	}
	defer clear(b)
	return strings.Trim(clean(b), " \r"), nil
}

// told says that type-ahead was dropped. The terminal may have shown it.
func told(out *output.Writer, n int, shown bool) {
	if shown {
		out.Touched()
	}
	if n == 1 {
		out.Line(output.Info, "1 character typed before the question was dropped")
		return
	}
	out.Line(output.Info, "%d characters typed before the question were dropped", n)
}

// line shows prompt and returns one line.
func (c *cooked) line(ctx context.Context, prompt string) (string, error) {
	c.src.claim(c.jobs)
	c.ahead()
	c.held.show()
	c.unsent()
	c.src.expect()
	c.open = len(c.buf) == 0 && !c.over && !c.src.waiting()
	c.reading.Store(true)
	defer func() {
		c.reading.Store(false)
		c.src.hush()
		c.held.show()
	}()
	c.out.Prompt(prompt)
	if c.src.terminal() && len(c.buf) > 0 && !c.Echoed && c.src.echoes() {
		if s, done, err := c.typedAhead(ctx, prompt); done {
			return s, err
		}
	}
	if c.over {
		c.over = false
		return "", io.EOF
	}
	return c.fromTerminal(ctx, prompt)
}

// ahead takes what was typed while it was not shown.
func (c *cooked) ahead() {
	c.take(c.src.ahead())
}

// unsent shows what was typed before the user stopped something, instead of
// returning it.
func (c *cooked) unsent() {
	if !c.stopped {
		return
	}
	text := strings.TrimSpace(clean(c.buf))
	if c.stopped, c.buf, c.over = false, nil, false; text == "" {
		return
	}
	if !strings.Contains(text, "\n") {
		c.out.Line(output.Info, "typed before the stop and not sent: %s", text)
		return
	}
	c.out.Line(output.Info, "typed before the stop and not sent, %d lines:", strings.Count(text, "\n")+1)
	c.out.Text(text)
	c.out.Fresh()
}

// take takes what was typed and not read yet.
func (c *cooked) take(typed []byte) {
	if len(typed) == 0 {
		return
	}
	c.buf = append(c.buf, typed...)
	if i := bytes.IndexByte(c.buf, 0); i >= 0 && (i == 0 || c.buf[i-1] == '\n') { // what the terminal makes of Ctrl-D
		c.buf, c.over = c.buf[:i], true
	}
}

// typedAhead shows what was typed before the prompt, which the terminal has
// not done at this place.
func (c *cooked) typedAhead(ctx context.Context, prompt string) (s string, done bool, err error) {
	i := bytes.IndexByte(c.buf, '\n')
	if i < 0 {
		return c.finish(ctx, prompt, false)
	}
	s = c.entered(c.buf[:i])
	c.buf = c.buf[i+1:]
	c.out.Text(s)
	c.out.Text("\n")
	return s, true, nil
}

// fromTerminal returns the next line of the input.
func (c *cooked) fromTerminal(ctx context.Context, prompt string) (string, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(c.buf[seen:], '\n'); i >= 0 {
			s := c.entered(c.buf[:seen+i])
			c.buf = c.buf[seen+i+1:]
			if c.Echoed || c.src.echoes() {
				c.out.Entered()
			}
			return s, nil
		}
		seen = len(c.buf)
		if c.end != nil {
			return c.rest()
		}
		b, err := c.src.read(ctx)
		if c.src.terminal() && longestLine > 0 && len(b) > longestLine {
			return "", c.tooLong(ctx)
		}
		if err == errResumed {
			c.again(prompt)
			continue
		}
		if c.src.terminal() && bytes.ContainsAny(b, "\r\x03\x04") && !c.src.lines() {
			if b, err = rawLine(b); err != nil {
				return "", err
			}
		}
		c.buf = append(c.buf, b...)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			if c.src.terminal() { // the terminal has dropped what it held, so do we
				c.buf = nil
			}
			return "", context.Cause(ctx)
		default:
			c.end = err
		}
	}
}

// entered returns a line as it was meant: what an arrow key sends to a terminal
// that knows no such key is no part of it.
func (c *cooked) entered(b []byte) string {
	for at := 0; c.src.terminal(); {
		i := bytes.IndexByte(b[at:], 0x1b)
		if i < 0 {
			break
		}
		at += i
		if at+1 < len(b) && (b[at+1] == '[' || b[at+1] == 'O') {
			if n, _ := sequence(b[at:], false); n > 0 {
				b = slices.Concat(b[:at], b[at+n:])
				continue
			}
		}
		at++
	}
	return clean(b)
}

// again shows the prompt once more, after a stop. What was typed behind it the
// terminal has forgotten, and so do we.
func (c *cooked) again(prompt string) {
	c.out.Entered()
	c.out.Prompt(prompt)
}

// rawLine reads keys as a terminal would whose line editing somebody has
// switched off.
func rawLine(b []byte) ([]byte, error) {
	switch {
	case bytes.IndexByte(b, 3) >= 0:
		return nil, ErrInterrupt
	case bytes.IndexByte(b, 4) == 0:
		return nil, io.EOF
	}
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n")), nil
}

// tooLong says that the terminal has cut a line. What was pasted with it goes,
// too, or it would be taken for something of its own.
func (c *cooked) tooLong(ctx context.Context) error {
	for patient && !c.Single {
		if b, err := c.src.readWithin(ctx, pasteGap); len(b) == 0 || err != nil {
			c.src.drop()
			break
		}
	}
	c.buf = nil
	c.out.Entered()
	c.out.Line(output.Warning, "the terminal passes at most %d bytes of a line, so this one was dropped; "+
		"break it with backslashes, or put it into a file and name it with @", longestLine)
	return ErrCleared
}

// rest returns a last line without an end. A script may end so; on a terminal
// it is a line that nobody has entered.
func (c *cooked) rest() (string, error) {
	b, ended := c.buf, errors.Is(c.end, io.EOF)
	c.buf = nil
	if c.src.terminal() {
		c.end = nil // a terminal goes on after Ctrl-D
		return "", io.EOF
	}
	if len(b) == 0 || !ended {
		return "", io.EOF
	}
	return clean(b), nil
}

// clean makes text of the bytes of a line.
func clean(b []byte) string {
	s := strings.TrimSuffix(string(b), "\r")
	if strings.Contains(s, "\x00") {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// held is what waits to be shown until it disturbs nobody.
type held struct {
	mu   sync.Mutex
	todo []func()
}

func (h *held) add(show func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.todo = append(h.todo, show)
}

// show shows it, on the goroutine that owns the output.
func (h *held) show() {
	h.mu.Lock()
	todo := h.todo
	h.todo = nil
	h.mu.Unlock()
	for _, show := range todo {
		show()
	}
}
