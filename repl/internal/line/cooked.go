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

// cooked reads what the terminal's own line discipline, or a pipe, hands out.
type cooked struct {
	terminal *terminal
	buf      []byte
	kept     string // see [Reader.Stopped]: what Enter alone sends
	open     bool   // nothing was typed before the prompt was shown
	end      error  // what ended the input behind buf, nil before
}

func newCooked(t *terminal) *cooked {
	c := &cooked{terminal: t}
	if t.Jobs && t.src.tty {
		t.jobs = newJobs(&t.src.modes, func() bool { return false }, c.resumed)
	}
	return c
}

// resumed is called when the program goes on after a stop.
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

// cancelEnd forgets that the input has ended.
func (c *cooked) cancelEnd() bool {
	ended := c.end != nil
	c.end = nil
	return ended
}

// save puts aside text that was read and not returned.
func (c *cooked) save() (restore func()) {
	buf, end := c.buf, c.end
	c.buf, c.end = nil, nil
	return func() { c.buf, c.end = append(buf, c.buf...), cmp.Or(end, c.end) }
}

// close leaves closing to the source.
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

// shown reports whether text typed at the prompt stands behind it.
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

// showUnsent shows text that was typed before the user stopped a turn, instead of
// returning it. Whole lines of that are kept.
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

// stoppedByError is what something was stopped by that half a line survives.
const stoppedByError = "error"

// typeAhead takes text that was typed and not read yet.
func (c *cooked) typeAhead(typed []byte) {
	if len(typed) == 0 {
		return
	}
	c.buf = append(c.buf, typed...)
	for i, b := range c.buf { // a Ctrl-D, which is a 0, ends the input where there is nothing for it to hand out
		if b == 0 && (i == 0 || c.buf[i-1] == '\n' || c.buf[i-1] == 0) {
			c.buf, c.end = c.buf[:i], io.EOF
			return
		}
	}
}

// typedAhead shows text that was typed before the prompt, which neither the terminal nor
// Emacs has done at this place, and reports whether it is a whole line. Half a line
// can be gone on with, but the terminal has given it away and can't take back a
// character of it any more.
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
			} else if c.terminal.src.tty { // the terminal has dropped its input, so we drop ours
				c.buf = nil
			}
			return "", context.Cause(ctx)
		default:
			c.end = err
		}
	}
}

// entered returns a line as the user meant it.
func (c *cooked) entered(b []byte) string {
	if !c.terminal.src.tty {
		return clean(b)
	}
	return typedText(b)
}

// reprompt shows the prompt once more, after a stop. Text typed behind it and
// not read the terminal has forgotten, and so do we.
func (c *cooked) reprompt(prompt string) {
	c.terminal.Config.Out.Entered()
	c.terminal.Config.Out.Prompt(prompt)
	c.terminal.Config.Out.Text(clean(c.buf))
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

// dropLong says that the terminal has cut a line. Text pasted with it goes,
// too, or it would be taken for something of its own.
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

// tooLong says that a line was cut, and what to do.
func tooLong() string {
	return fmt.Sprintf("the terminal passes at most %d bytes of a line, so this one was dropped; "+
		"break it with backslashes, or put it into a file and name it with @", longestLine)
}

// lastLine returns a last line without an end. A script may end so, and a pipe of Emacs's eshell,
// which is a terminal; on other terminals it is a line that nobody has entered.
func (c *cooked) lastLine() (string, error) {
	b, ended := c.buf, errors.Is(c.end, io.EOF)
	c.buf = nil
	if c.terminal.src.tty {
		c.end = nil // a terminal goes on after Ctrl-D
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

// clean makes text of the bytes of a line.
func clean(b []byte) string {
	s := strings.TrimSuffix(string(b), "\r")
	if strings.Contains(s, "\x00") {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
