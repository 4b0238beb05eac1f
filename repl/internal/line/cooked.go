package line

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gemline/repl/output"
)

// cooked reads lines from the terminal's own line editing, or from a pipe.
type cooked struct {
	terminal *terminal
	buf      []byte
	kept     string // see [Reader.Stopped]: sent by Enter alone
	open     bool   // nothing was typed before the prompt was shown
	end      error  // the end of the input after buf, nil before it
}

func newCooked(t *terminal) *cooked {
	c := &cooked{terminal: t}
	if t.Jobs && t.src.tty {
		t.jobs = newJobs(&t.src.modes, func() bool { return false }, c.resumed)
	}
	return c
}

// resumed is called when the program continues after a stop.
func (c *cooked) resumed() {
	if c.terminal.reading.Load() {
		c.terminal.src.resume()
		return
	}
	c.terminal.src.hideEcho()
}

// drop removes text that was read and not returned.
func (c *cooked) drop() int {
	n := utf8.RuneCount(c.buf)
	c.buf, c.end = nil, nil
	return n
}

// cancelEnd removes an end of the input, and reports whether there was one.
func (c *cooked) cancelEnd() bool {
	ended := c.end != nil
	c.end = nil
	return ended
}

// save sets unread text aside.
func (c *cooked) save() (restore func()) {
	buf, end := c.buf, c.end
	c.buf, c.end = nil, nil
	return func() { c.buf, c.end = append(buf, c.buf...), cmp.Or(end, c.end) }
}

// close does nothing: the source closes the input.
func (c *cooked) close() error { return nil }

// line shows prompt and returns one line.
func (c *cooked) line(ctx context.Context, prompt string, answer bool) (string, error) {
	s, err := c.read(ctx, prompt, answer)
	if !answer && err == nil {
		s, c.kept = cmp.Or(s, c.kept), ""
	}
	return s, err
}

func (c *cooked) read(ctx context.Context, prompt string, answer bool) (string, error) {
	c.terminal.src.awaitForeground(c.terminal.jobs)
	c.typeAhead(c.terminal.src.typeAhead())
	c.showUnsent()
	if !answer {
		c.showOffered()
	}
	c.terminal.src.expect()
	c.open = len(c.buf) == 0 && c.end == nil && !c.terminal.src.waiting()
	c.terminal.reading.Store(true)
	defer func() {
		c.terminal.reading.Store(false)
		c.terminal.src.hideEcho()
	}()
	c.terminal.Config.Out.Prompt(prompt)
	if c.terminal.src.tty && len(c.buf) > 0 && c.shown() {
		if s, whole := c.typedAhead(); whole {
			return s, nil
		}
	}
	if prompt != More || c.terminal.Config.Single || !c.terminal.src.tty {
		return c.fromTerminal(ctx, prompt)
	}
	together := !c.open
	s, err := c.fromTerminal(ctx, prompt)
	if err == nil && (together || len(c.buf) > 0 || c.terminal.src.waiting()) && !isFence(s) {
		c.terminal.inserted = append(c.terminal.inserted, s)
	}
	return s, err
}

// shown reports whether the terminal has shown text that was typed at the prompt.
func (c *cooked) shown() bool { return c.terminal.Config.Echoed || c.terminal.src.echoes() }

// showOffered shows text that can't be put into the next line.
func (c *cooked) showOffered() {
	if text := clean([]byte(c.terminal.offered)); text != "" {
		c.terminal.offered = ""
		c.terminal.Config.Out.Line(output.Info, "your question, to be sent again or changed:")
		c.terminal.Config.Out.Text(text)
		c.terminal.Config.Out.Fresh()
	}
}

// showUnsent shows text that was typed before the user stopped a turn. It is not sent; its complete
// lines are stored in kept.
func (c *cooked) showUnsent() {
	by := c.terminal.stopped
	if by == "" || !c.terminal.src.tty || c.terminal.Config.Single {
		return
	}
	c.terminal.stopped = ""
	entered := bytes.HasSuffix(c.buf, []byte("\n"))
	if by == stoppedByError && !bytes.Contains(c.buf, []byte("\n")) {
		return
	}
	text := strings.TrimSpace(typedText(c.buf))
	if c.buf, c.end = nil, nil; text == "" {
		return
	}
	how := ""
	if entered {
		c.kept, how = text, "; Enter alone sends it"
	}
	if !strings.Contains(text, "\n") {
		c.terminal.Config.Out.Line(output.Info, "typed before the %s and not sent%s: %s", by, how, text)
		return
	}
	c.terminal.Config.Out.Line(output.Info, "typed before the %s and not sent, %d lines%s:", by, strings.Count(text, "\n")+1, how)
	c.terminal.Config.Out.Text(text)
	c.terminal.Config.Out.Fresh()
}

// stoppedByError is the cause of a stop that preserves an incomplete line.
const stoppedByError = "error"

// typeAhead takes text that was typed and not read yet.
func (c *cooked) typeAhead(typed []byte) {
	if len(typed) == 0 {
		return
	}
	c.buf = append(c.buf, typed...)
	for i, b := range c.buf { // a Ctrl-D, stored as 0, ends the input at the start of a line
		if b == 0 && (i == 0 || c.buf[i-1] == '\n' || c.buf[i-1] == 0) {
			c.buf, c.end = c.buf[:i], io.EOF
			return
		}
	}
}

// typedAhead shows text that was typed before the prompt, and reports whether it is a whole line.
// Neither the terminal nor Emacs has shown it here. The user can continue an incomplete line, but
// can't delete its characters any more: the terminal has passed them on.
func (c *cooked) typedAhead() (s string, whole bool) {
	line, rest, whole := bytes.Cut(c.buf, []byte("\n"))
	s = c.entered(line)
	if c.terminal.Config.Out.Text(s); whole {
		c.buf = rest
		c.terminal.Config.Out.Text("\n")
	}
	return s, whole
}

// fromTerminal returns the next line of the input.
func (c *cooked) fromTerminal(ctx context.Context, prompt string) (string, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(c.buf[seen:], '\n'); i >= 0 {
			s := c.entered(c.buf[:seen+i])
			c.buf = c.buf[seen+i+1:]
			if c.shown() {
				c.terminal.Config.Out.Entered()
			}
			return s, nil
		}
		seen = len(c.buf)
		if c.end != nil {
			return c.lastLine()
		}
		b, err := c.terminal.src.read(ctx)
		if c.terminal.src.tty && longestLine > 0 && len(b) > longestLine {
			return "", c.dropLong(ctx)
		}
		if err == errResumed {
			c.reprompt(prompt)
			continue
		}
		if c.terminal.src.tty && bytes.ContainsAny(b, "\r\x03\x04") && !c.terminal.src.lines() {
			if b, err = rawLine(b); err != nil {
				return "", err
			}
		}
		c.buf = append(c.buf, b...)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			if context.Cause(ctx) == ErrSuperseded {
				c.terminal.src.typedUnseen()
			} else if c.terminal.src.tty { // the terminal has dropped its input, so this buffer is dropped, too
				c.buf = nil
			}
			return "", context.Cause(ctx)
		default:
			c.end = err
		}
	}
}

// entered returns a line after the editing keys in it were applied.
func (c *cooked) entered(b []byte) string {
	if !c.terminal.src.tty {
		return clean(b)
	}
	return typedText(b)
}

// reprompt shows the prompt again after a stop. The terminal has dropped typed text that was not
// read, so the reader drops it, too.
func (c *cooked) reprompt(prompt string) {
	c.terminal.Config.Out.Entered()
	c.terminal.Config.Out.Prompt(prompt)
	c.terminal.Config.Out.Text(clean(c.buf))
}

// rawLine interprets control characters on a terminal whose line editing is switched off.
func rawLine(b []byte) ([]byte, error) {
	switch {
	case bytes.IndexByte(b, 3) >= 0:
		return nil, ErrInterrupt
	case bytes.IndexByte(b, 4) == 0:
		return nil, io.EOF
	}
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n")), nil
}

// dropLong reports that the terminal has cut a line. It drops the rest of a paste, which would
// otherwise be read as another input.
func (c *cooked) dropLong(ctx context.Context) error {
	for canTimeOut && !c.terminal.Config.Single {
		if b, err := c.terminal.src.readWithin(ctx, pasteGap); len(b) == 0 || err != nil {
			c.terminal.src.drop()
			break
		}
	}
	c.buf = nil
	c.terminal.Config.Out.Entered()
	c.terminal.Config.Out.Line(output.Warning, "%s", tooLong())
	return ErrCleared
}

// tooLong describes a cut line, with advice.
func tooLong() string {
	return fmt.Sprintf("the terminal passes at most %d bytes of a line, so this one was dropped; "+
		"break it with backslashes, or put it into a file and name it with @", longestLine)
}

// lastLine returns a last line without a line end. A script may end without one, and so may a pipe
// of Emacs's eshell, which is a terminal. On other terminals the user has not entered the line.
func (c *cooked) lastLine() (string, error) {
	b, ended := c.buf, errors.Is(c.end, io.EOF)
	c.buf = nil
	if c.terminal.src.tty {
		c.end = nil // a terminal continues after Ctrl-D
	}
	switch {
	case len(b) == 0 || !ended:
		return "", io.EOF
	case c.terminal.src.tty && (!c.terminal.Config.Echoed || c.terminal.src.echoes()):
		c.terminal.Config.Out.Line(output.Info, "the last line was not sent, since Ctrl-D came before Enter")
		return "", io.EOF
	}
	c.end = io.EOF
	return c.entered(b), nil
}

// clean converts the bytes of a line to text.
func clean(b []byte) string {
	s := strings.TrimSuffix(string(b), "\r")
	if strings.Contains(s, "\x00") {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
