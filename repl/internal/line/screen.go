package line

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"gemline/repl/output"
)

// Marks that readline carries from the prompt and the painter to the screen.
// They are private characters that no input contains.
const (
	markPrompt  = '\uF7FA'
	markText    = '\uF7FB'
	markCursor  = '\uF7FC'
	markEnd     = '\uF7FD'
	newlineMark = '\uF7FE' // a line break inside the line

	// endless is the width that readline believes in. It then never lays
	// anything out, and every picture of the line comes in one piece.
	endless = 1 << 24
)

// ours reports whether r is one of the marks.
func ours(r rune) bool { return r >= 0xF7F0 && r <= 0xF7FF }

// A painter marks where the text, the cursor and the end are.
type painter struct{}

// Paint implements readline.Painter.
func (painter) Paint(line []rune, pos int) []rune {
	if n := len(line); n > 0 && line[n-1] == '\n' { // entered
		pos = n
	}
	out := make([]rune, 0, len(line)+3)
	out = append(out, markText)
	out = append(out, line[:pos]...)
	out = append(out, markCursor)
	out = append(out, line[pos:]...)
	return append(out, markEnd)
}

// A screen draws the line being typed. It takes readline's pictures and writes
// what differs from the one before: what is appended is written as it is.
type screen struct {
	w     io.Writer
	width func() int

	shown         bool
	prompt        string
	before, after string // the text on both sides of the cursor, as shown
}

// Write implements [io.Writer] for readline. What is no picture is left out:
// erasing is done when drawing, and bells are nobody's wish.
func (s *screen) Write(p []byte) (int, error) {
	rest := p
	for {
		i := bytes.Index(rest, []byte(string(markPrompt)))
		if i < 0 {
			return len(p), nil
		}
		picture, after, ok := bytes.Cut(rest[i+len(string(markPrompt)):], []byte(string(markEnd)))
		if !ok {
			return len(p), nil
		}
		rest = after
		prompt, text, _ := strings.Cut(string(picture), string(markText))
		before, behind, _ := strings.Cut(text, string(markCursor))
		entered := strings.HasSuffix(before, "\n")
		s.draw(prompt, show(strings.TrimSuffix(before, "\n")), show(behind))
		if entered {
			s.shown = false
			io.WriteString(s.w, "\n")
		}
	}
}

// show returns text as it may stand on the screen.
func show(s string) string {
	s = strings.NewReplacer(string(newlineMark), "\n", "\t", "    ").Replace(s)
	return output.Escape(s)
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
	if s.shown {
		row, _ := layout(oldPrompt+oldBefore, s.width(), oldAfter != "")
		if row > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", row)
		}
		b.WriteString("\r\x1b[J")
	}
	s.shown = true
	b.WriteString(prompt + before + after)
	if after != "" {
		endRow, _ := layout(prompt+before+after, s.width(), false)
		row, col := layout(prompt+before, s.width(), true)
		if endRow > row {
			fmt.Fprintf(&b, "\x1b[%dA", endRow-row)
		}
		b.WriteString("\r")
		if col > 0 {
			fmt.Fprintf(&b, "\x1b[%dC", col)
		}
	}
	io.WriteString(s.w, b.String())
}

// rubout takes one character, less, from the end of what is shown. It reports
// false if that needs a drawing.
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

// layout returns the row and column of the cursor behind text on a terminal of
// that width. Behind a full row the cursor waits at its end, unless more
// follows.
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
