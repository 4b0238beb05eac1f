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

// A multiline makes one input of lines: of a line, of lines joined by a
// backslash at their end, of a block between fences, or of what an editor
// leaves. Input that ends in the middle counts as far as it goes if it comes
// from a script. If a user typed it, it is returned with io.EOF.
type multiline struct {
	typed bool
	next  func(prompt string) (string, error)
	edit  func(text string) (string, error) // nil if there is no editor

	// more returns an entered line and the lines that were pasted with it.
	more func(first string) ([]string, error)

	// held is called when the user types Ctrl-D in the middle of an input.
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

// pasted returns the input that lines are which were pasted: their text, or
// the text between the fences around it. The text behind a fence that is not
// closed is still to come.
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

// continued returns s with the lines that go on with it.
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
		if s = s[:len(s)-1]; !isCommand(s) { // a shell joins its lines without a line end
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

// further returns the next line of an input that has begun. Users take Ctrl-D for the end of a
// block, too: after the first one the input goes on.
func (m multiline) further() (string, error) {
	s, err := m.next(More)
	if err == io.EOF && m.typed {
		m.held()
		s, err = m.next(More)
	}
	return s, err
}

// block reads on behind lines, up to the fence that closes them.
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

// continues reports whether s ends with a backslash that is not itself behind
// a backslash.
func continues(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// draft is the name of the file that an editor is given.
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
