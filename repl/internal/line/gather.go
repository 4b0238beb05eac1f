package line

import (
	"context"
	"errors"
	"io"
	"strings"

	"gemline/repl/output"
)

// fence opens and closes a block of lines.
const fence = `"""`

// opens is the line that opens the editor on what was typed before it.
const opens = "/editor"

// A gatherer makes one input of lines: of a line, of lines joined by a
// backslash at their end, of a block between fences, or of what an editor
// leaves. Input that ends in the middle counts as far as it goes if it comes
// from a script, and not at all if a user typed it.
type gatherer struct {
	typed bool
	next  func(prompt string) (string, error)
	edit  func(text string) (string, error) // nil if there is no editor
}

func (g gatherer) gather(prompt string) (string, error) {
	s, err := g.next(prompt)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(s) == fence {
		return g.block()
	}
	if g.asksForEditor(s) {
		return g.edit(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), opens)))
	}
	for continues(s) {
		more, err := g.next(More)
		if err == io.EOF && !g.typed {
			break
		}
		if err != nil {
			return "", err
		}
		if s = s[:len(s)-1] + "\n"; g.asksForEditor(more) {
			return g.edit(s)
		}
		s += more
	}
	return s, nil
}

// block reads up to the fence that closes it.
func (g gatherer) block() (string, error) {
	var lines []string
	for {
		s, err := g.next(More)
		switch {
		case err == io.EOF && !g.typed && len(lines) > 0:
			return strings.Join(lines, "\n"), nil
		case err != nil:
			return "", err
		case strings.TrimSpace(s) == fence:
			return strings.Join(lines, "\n"), nil
		case g.asksForEditor(s):
			return g.edit(strings.Join(append(lines, ""), "\n"))
		}
		lines = append(lines, s)
	}
}

// asksForEditor reports whether s opens the editor, where there is one.
func (g gatherer) asksForEditor(s string) bool {
	s = strings.TrimSpace(s)
	return g.edit != nil && g.typed && (s == opens || strings.HasPrefix(s, opens+" "))
}

// continues reports whether s ends with a backslash that is not itself behind
// a backslash.
func continues(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// draft is the name of the file that an editor is given.
const draft = "prompt.md"

// compose lets the user write an input in an editor, and shows what it is.
func compose(ctx context.Context, c Config, lend func(func()), text string) (string, error) {
	var err error
	lend(func() { text, err = c.Edit(context.WithoutCancel(ctx), draft, text) })
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrInterrupt) { // a Ctrl-C was meant for the editor
		return "", context.Cause(ctx)
	}
	if err != nil {
		c.Out.Line(output.Failure, "%v", err)
		return "", ErrCleared
	}
	if text = strings.TrimRight(text, " \t\r\n"); text == "" {
		c.Out.Line(output.Info, "nothing was written, so nothing is sent")
		return "", ErrCleared
	}
	c.Out.Text(text)
	c.Out.Fresh()
	return text, nil
}
