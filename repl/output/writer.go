package output

import (
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"

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
	w     io.Writer
	ascii bool
	marks bool
	words Words

	line    line
	wrap    wrap   // of a paragraph that is broken between words
	tail    []byte // input whose meaning depends on what follows
	style   Style  // of the outside text that is taken in
	columns func() int
	err     error

	touched atomic.Bool
}

// New returns a Writer to w, whose cursor is at the start of a line.
func New(w io.Writer, o Options) *Writer {
	m := &Writer{w: w, ascii: o.ASCII, marks: o.Marks, words: o.Words,
		line: line{styles: wrappings(o.Color), openings: openings(o.Words), atStart: true, blank: true}}
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
	w.look()
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
	w.look()
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
	ws := w.line.styles[looks(l)]
	w.line.out = append(w.line.out, ws.begin+w.words.word(l)+":"+ws.end+" "...)
	w.line.atStart = false
	w.line.before = ' '
	w.line.col, w.line.blank = displaywidth.String(w.words.word(l))+2, false
}

func looks(l Label) Style {
	switch l {
	case Failure:
		return Bad
	case Warning, Permission:
		return Caution
	default:
		return Strong
	}
}

// Line writes a whole message on a fresh line. Outside text may be among args.
// What names a call holds commands and is broken by nobody but the terminal.
func (w *Writer) Line(l Label, format string, args ...any) {
	w.Fresh()
	w.begin(l)
	text := fmt.Appendf(nil, format, args...)
	if w.columns != nil && l != Permission && l != Tool {
		w.prose(w.columns(), Span{Text: string(text)})
	} else {
		w.take(text)
	}
	w.Fresh()
}

// Paragraphs writes lines of outside text, broken as messages are.
func (w *Writer) Paragraphs(text string) error {
	if w.columns == nil {
		w.Text(text)
	} else {
		w.Prose(w.columns(), Span{Text: text})
	}
	return w.err
}

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

// Prompt writes s, which is the program's own, on a fresh line and leaves the
// cursor behind it.
func (w *Writer) Prompt(s string) {
	w.Fresh()
	if w.ascii {
		s = ASCII(s)
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

// look takes notice of a touch.
func (w *Writer) look() {
	if w.touched.Swap(false) {
		w.wrap.joinProse()
		w.line.settleHead()
		w.line.atStart, w.line.blank = false, false
	}
}

// Terminal returns the stream without the gate, for the line editor, which
// writes nothing that it has not passed through [Escape].
func (w *Writer) Terminal() io.Writer { return direct{w} }

type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	d.w.line.out = append(d.w.line.out, p...)
	return len(p), d.w.flush()
}

func (w *Writer) flush() error {
	w.line.dark()
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

// take moves outside text to out, as far as its meaning is known.
func (w *Writer) take(p []byte) {
	w.look()
	if len(w.tail) > 0 {
		p = append(w.tail, p...)
		w.tail = nil
	}
	if !w.wrap.on {
		w.wrap.joinProse()
	}
	for len(p) > 0 {
		if n := printable(p); n > 0 && (!w.line.atStart || w.wrap.on) { // it needs no look at what is before it
			w.put(p[:n])
			w.line.before = rune(p[n-1])
			p = p[n:]
			continue
		}
		switch c := p[0]; {
		case c == '\n':
			w.wrap.endProse()
			w.line.settleHead()
			w.line.newline()
			p = p[1:]
		case c == '\r' && len(p) == 1, c >= 0x80 && !utf8.FullRune(p):
			w.tail = append([]byte(nil), p...)
			return
		case c == '\r' && p[1] == '\n':
			p = p[1:] // a line end is a line end
		default:
			p = p[w.one(p):]
		}
	}
}

// printable returns how many bytes p begins with that are shown as they are.
func printable(p []byte) int {
	for i, c := range p {
		if c < 0x20 && c != '\t' || c >= 0x7f {
			return i
		}
	}
	return len(p)
}

// one puts the first character of p and returns its length.
func (w *Writer) one(p []byte) int {
	r, n := utf8.DecodeRune(p)
	switch {
	case r == utf8.RuneError && n == 1:
		w.put(fmt.Appendf(nil, `\x%02x`, p[0]))
		r = 0 // U+FFFD would take a selector, its escape takes none
	case r == '\t':
		w.put(p[:1])
	case hidden(r), selector(r) && (r < 0xfe0e || !takesSelector(w.line.before)):
		w.put([]byte(escaped(r)))
	case w.ascii && r >= 0x80:
		w.put([]byte(ascii(r)))
	default:
		w.put(p[:n])
	}
	w.line.before = r
	return n
}

// put appends what is shown.
func (w *Writer) put(b []byte) {
	if w.wrap.on {
		w.wrap.lay(w.style, b)
	} else {
		w.line.place(w.style, b)
	}
}

// settle puts what was held back: nothing follows it.
func (w *Writer) settle() {
	if len(w.tail) > 0 {
		w.wrap.joinProse()
	}
	for _, c := range w.tail {
		w.put(fmt.Appendf(nil, `\x%02x`, c))
		w.line.before = 0
	}
	w.tail = nil
	w.wrap.endProse()
	w.line.settleHead()
}
