package line

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"gemline/repl/output"
)

// A screen draws the edited line. It writes only differences from its last drawing, such as
// appended text.
type screen struct {
	w     io.Writer
	width func() int

	marked        bool // prompts are marked for the terminal
	shown         bool
	prompt        string
	before, after string // the text on both sides of the cursor, as shown
}

// show returns the form of text on the screen.
func show(s string) string {
	s = strings.NewReplacer(string(newlineMark), "\n", "\t", "    ").Replace(s)
	parts := strings.Split(s, "\u3000")
	for i, p := range parts {
		parts[i] = output.EscapePartial(p)
	}
	return strings.Join(parts, "\u3000")
}

func (s *screen) draw(prompt, before, after string) {
	oldPrompt, oldBefore, oldAfter := s.prompt, s.before, s.after
	if s.shown && prompt == oldPrompt && before == oldBefore && after == oldAfter {
		return
	}
	s.prompt, s.before, s.after = prompt, before, after
	if s.shown && prompt == oldPrompt && after == "" && oldAfter == "" {
		if more, ok := strings.CutPrefix(before, oldBefore); ok && !strings.Contains(more, "\n") {
			io.WriteString(s.w, more)
			return
		}
		if less, ok := strings.CutPrefix(oldBefore, before); ok && s.rubout(less) {
			return
		}
	}
	var b strings.Builder
	head, erase := prompt, ""
	if s.shown {
		row, _ := layout(oldPrompt+oldBefore, s.width(), oldAfter != "")
		if row > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", row)
		}
		b.WriteString("\r")
		head, erase = beginning(prompt), "\x1b[J"
	}
	s.shown = true
	if s.marked {
		b.WriteString(output.PromptMark.Sequence() + head + erase + prompt[len(head):] +
			output.InputMark.Sequence() + before + after)
	} else {
		b.WriteString(head + erase + prompt[len(head):] + before + after)
	}
	if after != "" {
		b.WriteString(s.back(prompt+before, after))
	}
	io.WriteString(s.w, b.String())
}

// beginning returns the first character of a prompt; the rest of the screen is erased after it.
// Erasing from the upper left corner would clear the whole screen, and tmux would store a copy of
// it.
func beginning(prompt string) string {
	if prompt != "" && prompt[0] > ' ' && prompt[0] < 0x7f {
		return prompt[:1]
	}
	return ""
}

// back returns the sequence that moves the cursor from the end to the start of after.
func (s *screen) back(before, after string) string {
	endRow, _ := layout(before+after, s.width(), false)
	row, col := layout(before, s.width(), true)
	if ambiguous(before) && endRow == row && row == 0 {
		return "\r" + before // only the terminal knows the width
	}
	up := ""
	if endRow > row {
		up = fmt.Sprintf("\x1b[%dA", endRow-row)
	}
	if col == 0 {
		return up + "\r"
	}
	return up + fmt.Sprintf("\r\x1b[%dC", col)
}

// ambiguous reports whether text has characters of several runes, whose width depends on the
// terminal.
func ambiguous(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff
	})
}

// end moves the cursor below the finished line, and prints mark behind the line.
func (s *screen) end(mark string) {
	s.draw(s.prompt, s.before+s.after+mark, "")
	io.WriteString(s.w, "\n")
	s.shown = false
}

// leave moves the cursor below the line. The next drawing draws the whole line.
func (s *screen) leave() {
	if s.shown {
		io.WriteString(s.w, s.after+"\n")
	}
	s.shown = false
}

// rubout removes the character less from the end of the shown line. It returns false if the whole
// line must be drawn.
func (s *screen) rubout(less string) bool {
	n := displaywidth.String(less)
	if n < 1 || n > 2 || len([]rune(less)) != 1 {
		return false
	}
	width := s.width()
	oldRow, col := layout(s.prompt+s.before+less, width, false)
	row, _ := layout(s.prompt+s.before, width, false)
	if row != oldRow || col >= width {
		return false
	}
	back := strings.Repeat("\b", n)
	io.WriteString(s.w, back+strings.Repeat(" ", n)+back)
	return true
}

// layout returns the row and column of the cursor after text, on a terminal with that width. After
// a full row the cursor stays at its end, unless more is set.
func layout(text string, width int, more bool) (row, col int) {
	if width <= 0 {
		width = 80
	}
	g := displaywidth.StringGraphemes(text)
	for g.Next() {
		if g.Value() == "\n" {
			row, col = row+1, 0
			continue
		}
		n := g.Width()
		if col+n > width {
			row, col = row+1, 0
		}
		col += n
	}
	if more && col >= width {
		return row + 1, 0
	}
	return row, col
}
