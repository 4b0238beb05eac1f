package line

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gemline/repl/output"
)

// cooked reads what the terminal's own line discipline, or a pipe, hands out.
type cooked struct {
	src    *source
	out    *output.Writer
	echoed bool

	buf []byte
	end error // what ended the input, nil before
}

// Terminal implements [Reader].
func (c *cooked) Terminal() bool { return c.src.terminal() }

// Close implements [Reader].
func (c *cooked) Close() error { return c.src.close() }

// Read implements [Reader].
func (c *cooked) Read(ctx context.Context, prompt string) (string, error) {
	return gather(c.src.terminal(), prompt, func(prompt string) (string, error) {
		return c.line(ctx, prompt)
	})
}

// Ask implements [Reader].
func (c *cooked) Ask(ctx context.Context, question string) (answer string, dropped int, err error) {
	if c.src.terminal() {
		dropped = utf8.RuneCount(c.buf) + utf8.RuneCount(c.src.drop())
		c.buf = nil
		if dropped > 0 {
			told(c.out, dropped)
		}
	}
	answer, err = c.line(ctx, question)
	return answer, dropped, err
}

// told says that type-ahead was dropped.
func told(out *output.Writer, n int) {
	out.Touched() // the terminal has echoed what was typed
	if n == 1 {
		out.Line(output.Info, "1 character typed before the question was dropped")
		return
	}
	out.Line(output.Info, "%d characters typed before the question were dropped", n)
}

// line shows prompt and returns one line.
func (c *cooked) line(ctx context.Context, prompt string) (string, error) {
	c.out.Prompt(prompt)
	seen := 0
	for {
		if i := bytes.IndexByte(c.buf[seen:], '\n'); i >= 0 {
			s := clean(c.buf[:seen+i])
			c.buf = c.buf[seen+i+1:]
			if c.echoed || c.src.echoes() {
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
			c.buf = nil
			c.out.Entered()
			c.out.Line(output.Warning, "the terminal passes on %d bytes of a line and no more, so this one does not count; "+
				"break it with backslashes, or put the text into a file and name that with @", longestLine)
			return "", ErrCleared
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

// fence opens and closes a block of lines.
const fence = `"""`

// gather returns one input: a line, lines joined by a backslash at their end,
// or a block between fences. Input that ends in the middle counts as far as it
// goes if it comes from a script, and not at all if a user typed it.
func gather(typed bool, prompt string, next func(prompt string) (string, error)) (string, error) {
	s, err := next(prompt)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(s) == fence {
		var lines []string
		for {
			s, err = next(More)
			if err == io.EOF && !typed && len(lines) > 0 {
				return strings.Join(lines, "\n"), nil
			}
			if err != nil {
				return "", err
			}
			if strings.TrimSpace(s) == fence {
				return strings.Join(lines, "\n"), nil
			}
			lines = append(lines, s)
		}
	}
	for continues(s) {
		more, err := next(More)
		if err == io.EOF && !typed {
			break
		}
		if err != nil {
			return "", err
		}
		s = s[:len(s)-1] + "\n" + more
	}
	return s, nil
}

// continues reports whether s ends with a backslash that is not itself behind
// a backslash.
func continues(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}
