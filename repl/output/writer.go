package output

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
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
	gate
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
	m.ascii = o.ASCII
	m.line = line{styles: wrappings(o.Color), openings: openings(o.Words), atStart: true, blank: true}
	m.wrap.line = &m.line
	return m
}

// Wrap has messages broken between words from here on, at the width that
// columns returns. It is nil for a terminal that breaks them as it likes.
func (w *Writer) Wrap(columns func() int) { w.columns = columns }

// Adopt goes on in another mode.
func (w *Writer) Adopt(m Mode) { w.line.styles, w.marks = wrappings(m.Color), m.Marks }

// Word returns what a label is called.
func (w *Writer) Word(l Label) string { return w.words.word(l) }

// Mark marks the place that the cursor is at, where that is allowed. It moves
// nothing.
func (w *Writer) Mark(m Mark) {
	if !w.marks {
		return
	}
	w.noticeTouch()
	w.settle()
	w.line.out = append(w.line.out, m.Sequence()...)
	w.flush()
}

// Err returns the first error of the stream.
func (w *Writer) Err() error { return w.err }

// Write writes outside text. It fails only when the stream does.
func (w *Writer) Write(p []byte) (int, error) {
	w.take(p)
	return len(p), w.flush()
}

// Text writes outside text.
func (w *Writer) Text(s string) {
	w.take([]byte(s))
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
		w.style = s.Style
		w.take([]byte(s.Text))
	}
	w.style = Normal
	w.flush()
}

// Fresh brings the cursor to the start of a line, if it is not there.
func (w *Writer) Fresh() {
	w.noticeTouch()
	w.settle()
	if !w.line.atStart {
		w.line.newline()
	}
	w.flush()
}

// Begin starts a message on a fresh line: the label, a colon and a space.
func (w *Writer) Begin(l Label) {
	w.Fresh()
	w.begin(l)
	w.flush()
}

func (w *Writer) begin(l Label) {
	ws := w.line.styles[labelStyle(l)]
	w.line.out = append(w.line.out, ws.begin+w.words.word(l)+":"+ws.end+" "...)
	w.line.copy([]byte(copiedLabel + string(l) + copiedText))
	w.line.atStart = false
	w.line.before = ' '
	w.line.col, w.line.blank = displaywidth.String(w.words.word(l))+2, false
}

// labelStyle returns how a label looks.
func labelStyle(l Label) Style {
	switch l {
	case Failure:
		return Bad
	case Warning, Permission:
		return Caution
	default:
		return Strong
	}
}

// Uncut is an argument of [Writer.Line] that nobody may break: a command that is shown, or is to be
// copied. It has a line of its own where it does not fit behind the words.
type Uncut string

// coded returns a text that was made of args, with what is Uncut among them apart.
func (w *Writer) coded(text string, args []any) (spans []Span) {
	for _, a := range args {
		code, ok := a.(Uncut)
		at := strings.Index(text, string(code))
		if !ok || code == "" || at < 0 {
			continue
		}
		flow := Tight
		if w.Width(string(code)) > w.columns() { // there is no room for it on any line
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
	w.begin(l)
	text := fmt.Sprintf(format, args...)
	if w.columns != nil {
		w.prose(w.columns(), w.coded(text, args)...)
	} else {
		w.take([]byte(text))
	}
	w.Fresh()
}

// Paragraphs writes lines of outside text, broken as messages are, but for lines of code: those that
// begin with four blanks or a tab, and those of JSON.
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

// Paragraphs is that of the [Writer].
func (b paragraphs) Paragraphs(text string) error { return b.w.Paragraphs(text) }

// Styled writes one line of outside text in a style.
func (w *Writer) Styled(s Style, line string) {
	w.Fresh()
	w.style = s
	w.take([]byte(line))
	w.settle()
	w.style = Normal
	if !w.line.atStart || line == "" {
		w.line.newline()
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
	w.prose(w.columns(), Span{Style: s, Text: line, Hang: line[:len(line)-len(strings.TrimLeft(line, " "))]})
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

// Prompt writes s, which is the program's own, on a fresh line and leaves the
// cursor behind it.
func (w *Writer) Prompt(s string) {
	w.Fresh()
	if w.ascii {
		s = toASCII(s)
	}
	w.line.out = append(w.line.out, s...)
	w.line.atStart = s == ""
	w.flush()
}

// Entered tells the Writer that the user's Enter has brought the cursor to the
// start of a line.
func (w *Writer) Entered() {
	w.settle()
	w.flush()
	w.touched.Store(false)
	w.line.atStart = true
	w.line.before = '\n'
	w.line.col, w.line.blank = 0, true
}

// Touched tells the Writer that something else may have moved the cursor. It
// alone may be called on any goroutine.
func (w *Writer) Touched() { w.touched.Store(true) }

// Terminal returns the stream without the gate, for the line editor, which
// writes nothing that it has not passed through [Escape].
func (w *Writer) Terminal() io.Writer { return direct{w} }

type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	d.w.line.out = append(d.w.line.out, p...)
	return len(p), d.w.flush()
}

func (w *Writer) flush() error {
	w.line.endStyle()
	if len(w.line.copied) > 0 {
		w.copyTo(w.line.copied)
		w.line.copied = w.line.copied[:0]
	}
	if len(w.line.out) == 0 {
		return w.err
	}
	if w.err == nil {
		_, w.err = w.w.Write(w.line.out)
	}
	w.line.out = w.line.out[:0]
	if cap(w.line.out) > 1<<20 {
		w.line.out = nil
	}
	return w.err
}
