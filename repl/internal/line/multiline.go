package line

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"gemline/repl/output"
)

// fence opens and closes a block of lines.
const fence = `"""`

// editorCommand is the line that opens the editor on the text typed before it.
const editorCommand = "/editor"

// A multiline joins lines to one input: a single line, lines with a backslash at their end, a block
// between fences, or the text of an editor. From a script, an incomplete input counts. From a user,
// an incomplete input is returned with io.EOF.
type multiline struct {
	typed bool
	next  func(prompt string) (string, error)
	edit  func(text string) (string, error) // nil without an editor

	// more returns an entered line, and the lines that were pasted with it.
	more func(first string) ([]string, error)

	// held is called when the user presses Ctrl-D within an input.
	held func()
}

func (m multiline) read(prompt string) (string, error) {
	s, err := m.next(prompt)
	if err != nil {
		return "", err
	}
	lines, err := m.more(s)
	switch {
	case err != nil:
		return "", err
	case len(lines) > 1:
		return m.pasted(lines)
	}
	return m.single(s)
}

// pasted returns the input of pasted lines: their text, or the text between fences around it. If a
// fence is not closed, more lines must follow.
func (m multiline) pasted(lines []string) (string, error) {
	last := len(lines) - 1
	switch {
	case isFence(lines[0]) && isFence(lines[last]):
		return strings.Join(lines[1:last], "\n"), nil
	case isFence(lines[0]) && !slices.ContainsFunc(lines[1:], isFence):
		return m.block(lines[1:])
	}
	return m.continued(strings.Join(lines, "\n"))
}

// isFence reports whether a line opens or closes a block.
func isFence(s string) bool { return strings.TrimSpace(s) == fence }

// single returns the input that begins with the line s.
func (m multiline) single(s string) (string, error) {
	if isFence(s) {
		return m.block(nil)
	}
	if m.asksForEditor(s) {
		return m.edit(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), editorCommand)))
	}
	return m.continued(s)
}

// continued returns s joined with the lines that continue it.
func (m multiline) continued(s string) (string, error) {
	for continues(s) {
		more, err := m.further()
		if err == io.EOF && !m.typed {
			break
		}
		if err != nil {
			return s, err
		}
		lines, err := m.more(more)
		if err != nil {
			return "", err
		}
		if s = s[:len(s)-1]; !isCommand(s) { // a shell also joins its lines without a line end
			s += "\n"
		}
		if m.asksForEditor(more) {
			return m.edit(s)
		}
		s += strings.Join(lines, "\n")
	}
	return s, nil
}

// isCommand reports whether a line is a command for the user's shell.
func isCommand(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "!") && !strings.HasPrefix(s, "!{")
}

// further returns the next line of an incomplete input. Some users end a block with Ctrl-D, so the
// input continues after the first Ctrl-D.
func (m multiline) further() (string, error) {
	s, err := m.next(More)
	if err == io.EOF && m.typed {
		m.held()
		s, err = m.next(More)
	}
	return s, err
}

// block reads more lines, up to the closing fence.
func (m multiline) block(lines []string) (string, error) {
	for {
		s, err := m.further()
		switch {
		case err == io.EOF && !m.typed && len(lines) > 0:
			return strings.Join(lines, "\n"), nil
		case err != nil:
			return strings.Join(lines, "\n"), err
		case isFence(s):
			return strings.Join(lines, "\n"), nil
		case m.asksForEditor(s):
			return m.edit(strings.Join(append(lines, ""), "\n"))
		}
		lines = append(lines, s)
	}
}

// asksForEditor reports whether s opens the editor, where there is one.
func (m multiline) asksForEditor(s string) bool {
	s = strings.TrimSpace(s)
	return m.edit != nil && m.typed && (s == editorCommand || strings.HasPrefix(s, editorCommand+" "))
}

// continues reports whether s ends with a backslash that is not escaped.
func continues(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// draft is the name of the file for the editor.
const draft = "prompt.md"

// compose lets the user write an input in an editor, and shows it.
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
