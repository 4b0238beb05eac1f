package line

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"gemline/repl/output"
)

const (
	// pasteGap is the longest pause after an Enter within a paste: nobody types that fast.
	pasteGap = 40 * time.Millisecond

	// pasteLag is the longest pause before the next line of a known paste, on slow lines and busy
	// machines.
	pasteLag = 5 * pasteGap

	// pasteSent is how long after its last Enter an unmarked paste is sent: a program types lines
	// in this way, and presses nothing else.
	pasteSent = 300 * time.Millisecond
)

// collectLines returns first, which was just entered, and the lines that follow closely. Next
// returns a line if it arrives in time.
func collectLines(first string, next func(within time.Duration) (line string, ok bool, err error)) ([]string, error) {
	lines := []string{first}
	for within := pasteGap; ; within = pasteLag {
		line, ok, err := next(within)
		if err != nil {
			return nil, err
		}
		if !ok {
			return lines, nil
		}
		lines = append(lines, line)
	}
}

// pasted returns first and the lines that were pasted with it, and prints their number. Text typed
// before the prompt is no paste.
func (c *cooked) pasted(ctx context.Context, first string) ([]string, error) {
	if !canTimeOut || !c.terminal.src.tty || c.terminal.Config.Single || !c.open {
		return []string{first}, nil
	}
	c.terminal.reading.Store(true)
	defer c.terminal.reading.Store(false)
	lines, err := collectLines(first, func(within time.Duration) (string, bool, error) { return c.soon(ctx, within) })
	if err != nil {
		return nil, err
	}
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if n := len(lines); n > 1 {
		c.terminal.Config.Out.Line(output.Info, "%d lines pasted, sent as one", n)
	}
	return lines, nil
}

// soon returns the next line if more input arrives in time. Once a line has begun, soon waits for
// its end.
func (c *cooked) soon(ctx context.Context, within time.Duration) (line string, ok bool, err error) {
	if bytes.IndexByte(c.buf, '\n') < 0 {
		b, err := c.terminal.src.readWithin(ctx, within)
		switch {
		case ctx.Err() != nil:
			c.buf = nil
			return "", false, context.Cause(ctx)
		case err != nil && err != errResumed:
			c.end = err // a line came before the end
			return "", false, nil
		case longestLine > 0 && len(b) > longestLine:
			return "", false, c.dropLong(ctx)
		}
		c.buf = append(c.buf, b...)
	}
	if len(c.buf) == 0 && c.terminal.src.lines() { // the terminal holds an incomplete line
		c.typeAhead(c.terminal.src.pending())
	}
	if len(c.buf) == 0 {
		return "", false, nil
	}
	if line, err = c.fromTerminal(ctx, More); err == io.EOF {
		c.end = err
		return "", false, nil
	}
	return line, err == nil, err
}
