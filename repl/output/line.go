package output

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// A line is the cursor's line. All output passes it, so that no outside text can begin like a
// message of the program.
type line struct {
	styles   [last + 1]wrapping
	openings []string

	out        []byte  // pending output for the stream
	copying    bool    // see [Writer.CopyTo]
	copied     []byte  // pending output for the copy
	head       []byte  // the beginning of the line, which may become a label
	headStyles []Style // of the bytes of head
	current    Style   // the style at the end of out; none between writes
	atStart    bool    // the cursor is at the start of a line, apart from out and head
	before     rune    // the last character
	col        int     // the cursor's column, if a paragraph is broken between words
	blank      bool    // the line has only the hanging indentation
}

// begin begins a message at the start of the line: the label, by its name, a colon and a space.
func (l *line) begin(label Label, name string) {
	style := l.styles[labelStyle(label)]
	l.out = append(l.out, style.begin+name+":"+style.end+" "...)
	l.copy([]byte(copiedLabel + string(label) + copiedText))
	l.atStart = false
	l.before = ' '
	l.col, l.blank = displaywidth.String(name)+2, false
}

// labelStyle returns the style of a label.
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

// place appends output, unless it may be the beginning of a label.
func (l *line) place(s Style, b []byte) {
	for l.atStart && len(b) > 0 {
		_, n := utf8.DecodeRune(b)
		l.placeHead(s, b[:n])
		b = b[n:]
	}
	if len(b) > 0 {
		l.show(s, b)
	}
}

// placeText places text in its styles.
func (l *line) placeText(t styledText) {
	for from := 0; from < len(t.text); {
		to := from + 1
		for to < len(t.text) && t.styles[to] == t.styles[from] {
			to++
		}
		l.place(t.styles[from], t.text[from:to])
		from = to
	}
}

// placeHead appends the first characters of a line, unless they may be the
// beginning of a label.
func (l *line) placeHead(s Style, b []byte) {
	l.head = append(l.head, b...)
	for range b {
		l.headStyles = append(l.headStyles, s)
	}
	switch compare(l.head, l.openings) {
	case partial:
		return
	case alike:
		l.show(Normal, []byte(quote))
		l.col += len(quote)
	}
	l.settleHead()
}

// show appends b in a style.
func (l *line) show(s Style, b []byte) {
	if s != l.current {
		l.endStyle()
		l.out = append(l.out, l.styles[s].begin...)
		l.current = s
	}
	l.out = append(l.out, b...)
	l.copy(b)
}

// copy appends to the copy.
func (l *line) copy(b []byte) {
	if l.copying {
		l.copied = append(l.copied, b...)
	}
}

// endStyle ends the current style.
func (l *line) endStyle() {
	l.out = append(l.out, l.styles[l.current].end...)
	l.current = Normal
}

func (l *line) newline() {
	l.copy([]byte{'\n'})
	l.turn()
}

// turn begins another line on this terminal only, not in the copy.
func (l *line) turn() {
	l.endStyle()
	l.out = append(l.out, '\n')
	l.start()
}

// start records that the cursor is at the start of a line.
func (l *line) start() {
	l.atStart, l.before = true, '\n'
	l.col, l.blank = 0, true
}

func (l *line) settleHead() {
	if len(l.head) > 0 {
		for i := range l.head {
			l.show(l.headStyles[i], l.head[i:i+1])
		}
		l.head, l.headStyles = l.head[:0], l.headStyles[:0]
		l.atStart = false
	}
}
