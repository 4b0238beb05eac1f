package output

import (
	"fmt"
	"io"
	"strings"
)

// Options are the options of a Writer.
type Options struct {
	// Color allows colour escapes around the program's own messages.
	Color bool

	// Marks allows sequences that tell the terminal where prompts are.
	Marks bool

	// ASCII replaces all other characters by similar ASCII text.
	ASCII bool

	// Words are the user's names of labels, if there are any.
	Words Words
}

// A Writer is the only way to a stream. The goroutine that owns the terminal
// uses it; it is not safe for concurrent use.
//
// The Writer stores the error of the first failed write, and writes nothing after it.
type Writer struct {
	gate    gate
	w       io.Writer
	marks   bool
	words   Words
	columns func() int
	copyTo  func([]byte)
	err     error
}

// New returns a Writer to w, whose cursor is at the start of a line.
func New(w io.Writer, o Options) *Writer {
	m := &Writer{w: w, marks: o.Marks, words: o.Words}
	m.gate.ascii = o.ASCII
	m.gate.line = line{styles: wrappings(o.Color), openings: openings(o.Words)}
	m.gate.line.start()
	m.gate.wrap.line = &m.gate.line
	return m
}

// Wrap breaks later messages between words, at the width that columns returns. With nil the
// terminal breaks them.
func (w *Writer) Wrap(columns func() int) { w.columns = columns }

// Adopt changes to another mode.
func (w *Writer) Adopt(m Mode) { w.gate.line.styles, w.marks = wrappings(m.Color), m.Marks }

// Word returns the name of a label.
func (w *Writer) Word(l Label) string { return w.words.word(l) }

// Mark marks the cursor's place, if marks are allowed. It does not move the cursor.
func (w *Writer) Mark(m Mark) {
	if !w.marks {
		return
	}
	w.gate.noticeTouch()
	w.gate.settle()
	w.gate.line.out = append(w.gate.line.out, m.Sequence()...)
	w.flush()
}

// Err returns the stream's first error.
func (w *Writer) Err() error { return w.err }

// Write writes outside text. Its only error is the stream's.
func (w *Writer) Write(p []byte) (int, error) {
	w.gate.take(p)
	return len(p), w.flush()
}

// Text writes outside text.
func (w *Writer) Text(s string) {
	w.gate.take([]byte(s))
	w.flush()
}

// A Span is outside text in a style.
type Span struct {
	Style Style
	Text  string

	// Flow says where [Writer.Prose] may break the span. Hang is the beginning of a line that is
	// broken before a word of it.
	Flow Flow
	Hang string
}

// Spans writes outside text in one write. A style ends at the end of each line, and at the end of
// the write.
func (w *Writer) Spans(spans ...Span) {
	for _, s := range spans {
		w.gate.style = s.Style
		w.gate.take([]byte(s.Text))
	}
	w.gate.style = Normal
	w.flush()
}

// Fresh moves the cursor to the start of a line, if it is not there.
func (w *Writer) Fresh() {
	w.gate.noticeTouch()
	w.gate.settle()
	if !w.gate.line.atStart {
		w.gate.line.newline()
	}
	w.flush()
}

// Begin starts a message on a new line: the label, a colon and a space.
func (w *Writer) Begin(l Label) {
	w.Fresh()
	w.gate.line.begin(l, w.words.word(l))
	w.flush()
}

// Unbroken is an argument of [Writer.Line] that is never broken, such as a command to copy. If it
// does not fit behind the words, it gets a separate line.
type Unbroken string

// coded splits a text that was made of args at its Unbroken arguments.
func coded(text string, args []any, fits func(code string) bool) (spans []Span) {
	for _, a := range args {
		code, ok := a.(Unbroken)
		at := strings.Index(text, string(code))
		if !ok || at < 0 {
			continue
		}
		flow := Tight
		if !fits(string(code)) { // it fits on no line
			flow = Exact
		}
		spans = append(spans, Span{Text: text[:at]}, Span{Text: string(code), Flow: flow})
		text = text[at+len(code):]
	}
	return append(spans, Span{Text: text})
}

// Line writes a message on a new line. Args may include outside text.
func (w *Writer) Line(l Label, format string, args ...any) {
	w.Fresh()
	w.gate.line.begin(l, w.words.word(l))
	text := fmt.Sprintf(format, args...)
	if w.columns != nil {
		columns := w.columns()
		w.gate.prose(columns, coded(text, args, func(code string) bool { return w.Width(code) <= columns })...)
	} else {
		w.gate.take([]byte(text))
	}
	w.Fresh()
}

// Paragraphs writes lines of outside text, broken like messages. It does not break code: lines that
// begin with four blanks or a tab, and lines of JSON.
func (w *Writer) Paragraphs(text string) error {
	if w.columns == nil {
		w.Text(text)
		return w.err
	}
	var spans []Span
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		s := Span{Text: line, Hang: line[:indent]}
		if indent >= 4 || bare != "" && strings.Contains("\t{}[]\"", bare[:1]) {
			s.Flow = Exact
		}
		spans = append(spans, s)
	}
	w.Prose(w.columns(), spans...)
	return w.err
}

// Broken returns a stream to w whose lines are broken by [Writer.Paragraphs].
func (w *Writer) Broken() io.Writer { return paragraphs{w} }

type paragraphs struct{ w *Writer }

func (b paragraphs) Write(p []byte) (int, error) { return len(p), b.w.Paragraphs(string(p)) }

// Styled writes one line of outside text in a style.
func (w *Writer) Styled(s Style, line string) {
	w.Fresh()
	w.gate.style = s
	w.gate.take([]byte(line))
	w.gate.settle()
	w.gate.style = Normal
	if !w.gate.line.atStart || line == "" {
		w.gate.line.newline()
	}
	w.flush()
}

// Item writes one line of outside text in a style, broken like a message, with the following lines
// indented.
func (w *Writer) Item(s Style, line string) {
	if w.columns == nil {
		w.Styled(s, line)
		return
	}
	w.Fresh()
	w.gate.prose(w.columns(), Span{Style: s, Text: line, Hang: line[:len(line)-len(strings.TrimLeft(line, " "))]})
	w.Fresh()
}

// Room returns the greatest width of a question with an answer of one key behind it, 0 for no
// limit.
func (w *Writer) Room() int {
	if w.columns == nil || w.columns() < narrowest {
		return 0
	}
	return w.columns() - 2
}

// Head writes the first lines of a question that is too long for one line, and returns the last.
func (w *Writer) Head(question string) (last string) {
	for room := w.Room(); room > 0 && w.Width(question) > room; {
		at := -1
		for i := range question {
			if question[i] == ' ' && i < len(question)-1 && w.Width(question[:i]) <= room {
				at = i
			}
		}
		if at < 0 {
			break
		}
		w.Prompt(question[:at])
		w.Fresh()
		question = question[at+1:]
	}
	return question
}

// Prompt writes s on a new line and leaves the cursor behind it. It escapes outside text in s.
func (w *Writer) Prompt(s string) {
	w.Fresh()
	s = EscapeLine(s)
	if w.gate.ascii {
		s = toASCII(s)
	}
	w.gate.line.out = append(w.gate.line.out, s...)
	w.gate.line.atStart = s == ""
	w.flush()
}

// Entered says that the user's Enter has moved the cursor to the start of a line.
func (w *Writer) Entered() {
	w.gate.settle()
	w.flush()
	w.gate.touched.Store(false)
	w.gate.line.start()
}

// Touched says that something else, such as an echoed ^C or another program, may have moved the
// cursor. Only this method may be called on any goroutine.
func (w *Writer) Touched() { w.gate.touched.Store(true) }

// Terminal returns the stream without the gate, for the line editor, which passes all its output
// through [Escape].
func (w *Writer) Terminal() io.Writer { return direct{w} }

type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	d.w.gate.line.out = append(d.w.gate.line.out, p...)
	return len(p), d.w.flush()
}

func (w *Writer) flush() error {
	w.gate.line.endStyle()
	if len(w.gate.line.copied) > 0 {
		w.copyTo(w.gate.line.copied)
		w.gate.line.copied = w.gate.line.copied[:0]
	}
	if w.err == nil && len(w.gate.line.out) > 0 {
		_, w.err = w.w.Write(w.gate.line.out)
	}
	w.gate.line.out = w.gate.line.out[:0]
	return w.err
}
