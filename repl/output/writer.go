package output

import (
	"fmt"
	"io"
	"strings"
)

// Options say how a Writer writes.
type Options struct {
	// Color allows colour escapes around the program's own messages.
	Color bool

	// Marks allows sequences that tell the terminal where prompts are.
	Marks bool

	// ASCII puts something of ASCII in the place of every other character.
	ASCII bool

	// Words are what labels are called, as far as they have other names.
	Words Words
}

// A Writer is the only way to a stream. The goroutine that owns the terminal
// uses it; it is not safe for concurrent use.
//
// The first failed write is remembered, and nothing is written after it.
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

// Wrap breaks messages between words from here on, at the width that columns
// returns. With nil the terminal breaks them.
func (w *Writer) Wrap(columns func() int) { w.columns = columns }

// Adopt goes on in another mode.
func (w *Writer) Adopt(m Mode) { w.gate.line.styles, w.marks = wrappings(m.Color), m.Marks }

// Word returns what a label is called.
func (w *Writer) Word(l Label) string { return w.words.word(l) }

// Mark marks the place that the cursor is at, where that is allowed. It moves
// nothing.
func (w *Writer) Mark(m Mark) {
	if !w.marks {
		return
	}
	w.gate.noticeTouch()
	w.gate.settle()
	w.gate.line.out = append(w.gate.line.out, m.Sequence()...)
	w.flush()
}

// Err returns the first error of the stream.
func (w *Writer) Err() error { return w.err }

// Write writes outside text. It fails only when the stream does.
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

	// Flow says where [Writer.Prose] may break it, and Hang what a line begins
	// with that was broken before a word of it.
	Flow Flow
	Hang string
}

// Spans writes outside text in one go. No style goes on over the end of a line,
// or when the write is over.
func (w *Writer) Spans(spans ...Span) {
	for _, s := range spans {
		w.gate.style = s.Style
		w.gate.take([]byte(s.Text))
	}
	w.gate.style = Normal
	w.flush()
}

// Fresh brings the cursor to the start of a line, if it is not there.
func (w *Writer) Fresh() {
	w.gate.noticeTouch()
	w.gate.settle()
	if !w.gate.line.atStart {
		w.gate.line.newline()
	}
	w.flush()
}

// Begin starts a message on a fresh line: the label, a colon and a space.
func (w *Writer) Begin(l Label) {
	w.Fresh()
	w.gate.line.begin(l, w.words.word(l))
	w.flush()
}

// Unbroken is an argument of [Writer.Line] that nobody may break: a command that is shown, or is to
// be copied. It has a line of its own where it does not fit behind the words.
type Unbroken string

// coded returns a text that was made of args, with the Unbroken ones among them apart.
func coded(text string, args []any, fits func(code string) bool) (spans []Span) {
	for _, a := range args {
		code, ok := a.(Unbroken)
		at := strings.Index(text, string(code))
		if !ok || at < 0 {
			continue
		}
		flow := Tight
		if !fits(string(code)) { // there is no room for it on any line
			flow = Exact
		}
		spans = append(spans, Span{Text: text[:at]}, Span{Text: string(code), Flow: flow})
		text = text[at+len(code):]
	}
	return append(spans, Span{Text: text})
}

// Line writes a whole message on a fresh line. Outside text may be among args.
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

// Paragraphs writes lines of outside text, broken as messages are, except lines of code: lines
// that begin with four blanks or a tab, and lines of JSON.
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

// Broken returns a stream to w on which lines are broken by [Writer.Paragraphs].
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

// Item writes one line of outside text in a style, broken as messages are, below its beginning.
func (w *Writer) Item(s Style, line string) {
	if w.columns == nil {
		w.Styled(s, line)
		return
	}
	w.Fresh()
	w.gate.prose(w.columns(), Span{Style: s, Text: line, Hang: line[:len(line)-len(strings.TrimLeft(line, " "))]})
	w.Fresh()
}

// Room returns how wide a question may be that an answer of a key stands behind, 0 for as wide as it is.
func (w *Writer) Room() int {
	if w.columns == nil || w.columns() < narrowest {
		return 0
	}
	return w.columns() - 2
}

// Head writes the first lines of a question that does not fit on one, and returns the last.
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

// Prompt writes s on a fresh line and leaves the cursor behind it. Text from outside in s is
// escaped.
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

// Entered tells the Writer that the user's Enter has brought the cursor to the
// start of a line.
func (w *Writer) Entered() {
	w.gate.settle()
	w.flush()
	w.gate.touched.Store(false)
	w.gate.line.start()
}

// Touched tells the Writer that something else may have moved the cursor. It
// alone may be called on any goroutine.
func (w *Writer) Touched() { w.gate.touched.Store(true) }

// Terminal returns the stream without the gate, for the line editor, which
// writes nothing that it has not passed through [Escape].
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
