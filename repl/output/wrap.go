package output

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// narrowest is the least width for breaking lines between words. Below it most lines would hold one
// word.
const narrowest = 20

// maxCluster is the most bytes of one character with its marks. A longer sequence counts as two.
const maxCluster = 256

// A Flow says where the lines of a [Span] may be broken.
type Flow int

// The values of Flow.
const (
	Loose Flow = iota // between words
	Tight             // nowhere: the span is one word, even with blanks
	Exact             // nowhere: the text is no part of a paragraph
)

// A wrap breaks lines between words. It holds the current word and the blanks before it.
type wrap struct {
	line  *line
	on    bool // a call of Prose is running
	width int  // of the terminal; 0 without a limit
	flow  Flow // of the next text
	hang  string
	style Style

	blanks styledText // before the word
	word   styledText
	cells  int    // the width of the word
	begun  bool   // the beginning of the word is already written
	margin string // the beginning of a line that is broken before the word

	cluster []byte // the last character of the word, which may get more marks
	last    rune   // the wide character at the end of the word, if a line may end there
}

// Prose writes outside text as [Writer.Spans] does, and breaks its lines between words to fit a
// width. If the width is 0, it is unknown, and no line is broken.
//
// A word is held until it is complete. The start of a broken line is checked like any other.
func (w *Writer) Prose(width int, spans ...Span) {
	w.gate.prose(width, spans...)
	w.flush()
}

// Width returns the columns of s when it is shown.
func (w *Writer) Width(s string) int {
	var b bytes.Buffer
	m := New(&b, Options{ASCII: w.gate.ascii})
	m.gate.line.atStart = false
	m.Text(s)
	m.gate.settle()
	m.flush()
	return displaywidth.Bytes(b.Bytes())
}

// lay adds shown text of a paragraph.
func (f *wrap) lay(s Style, b []byte) {
	if s != f.style {
		f.endCluster() // it still has the style before
		f.style = s
	}
	if f.flow == Exact {
		f.joinProse()
		f.line.place(s, b)
		f.line.col += displaywidth.Bytes(b) // a word that is too long for one line continues on the next
		f.line.blank = false
		return
	}
	for len(b) > 0 {
		n := f.takeASCII(b)
		if n == 0 {
			_, n = utf8.DecodeRune(b)
			f.takeRune(b[:n])
		}
		b = b[n:]
	}
}

// takeASCII adds the ASCII characters at the start of b, and returns their number.
func (f *wrap) takeASCII(b []byte) (n int) {
	for n < len(b) && b[n] < utf8.RuneSelf && (f.flow == Tight || b[n] != ' ' && b[n] != '\t') {
		n++
	}
	if n > 0 {
		f.endCluster()
		f.last = 0
		f.grow(b[:n], n)
		return n
	}
	if b[0] < utf8.RuneSelf {
		f.endWord()
		f.blanks.add(f.style, b[:1])
		return 1
	}
	return 0
}

// takeRune adds a character beyond ASCII, which may belong to the character before.
func (f *wrap) takeRune(b []byte) {
	whole := len(f.cluster)
	f.cluster = append(f.cluster, b...)
	g := displaywidth.BytesGraphemes(f.cluster)
	if g.Next(); len(g.Value()) > whole && whole < maxCluster {
		return
	}
	f.cluster = f.cluster[:whole]
	f.endCluster()
	f.cluster = append(f.cluster, b...)
}

// endCluster adds the last character to the word, or begins another word with it.
func (f *wrap) endCluster() {
	if len(f.cluster) == 0 {
		return
	}
	c := f.cluster
	cells := displaywidth.Bytes(c)
	first, _ := utf8.DecodeRune(c)
	wide := cells == 2 && f.flow == Loose
	if wide && f.last != 0 && !closes(first) && !opens(f.last) {
		f.endPart()
	}
	f.grow(c, cells)
	f.last, f.cluster = 0, c[:0]
	if wide {
		f.last = first
	}
}

// opens and closes report whether a character stays with the next or the previous character, so
// that no line ends between them.
func opens(r rune) bool { return unicode.In(r, unicode.Ps, unicode.Pi) }

func closes(r rune) bool {
	return unicode.In(r, unicode.Pe, unicode.Pf) || strings.ContainsRune(clinging, r)
}

const clinging = "、。，．・：；！？％ー々〻ァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎゕゖヽヾゝゞ〜～"

// grow adds to the word. A word that is too long for a line is not held.
func (f *wrap) grow(b []byte, cells int) {
	if len(f.word.text) == 0 && !f.begun {
		f.margin = f.hang[:min(len(f.hang), f.width/2)]
	}
	f.word.add(f.style, b)
	f.cells += cells
	if f.begun || f.cells > f.width {
		f.release()
	}
}

// gap returns the width of the blanks before the word.
func (f *wrap) gap() int {
	at := f.line.col
	for _, c := range f.blanks.text {
		if at++; c == '\t' {
			at += 7 - (at-1)%8
		}
	}
	return at - f.line.col
}

// release writes the held word, on the next line if it does not fit on this one.
func (f *wrap) release() {
	if len(f.word.text) == 0 {
		return
	}
	if gap := f.gap(); !f.begun && f.width > 0 && !f.line.blank && f.line.col+gap+f.cells > f.width {
		f.line.settleHead()
		f.line.copy(f.blanks.text)
		f.line.turn()
		f.line.place(Normal, []byte(f.margin))
		f.line.col = len(f.margin)
	} else {
		f.line.placeText(f.blanks)
		f.line.col += gap
	}
	f.blanks.clear()
	f.begun, f.line.blank = true, false
	f.line.placeText(f.word)
	f.line.col += f.cells
	f.word.clear()
	f.cells = 0
}

// endPart ends a part of a word after which a line may end.
func (f *wrap) endPart() {
	f.release()
	f.begun = false
}

// endWord ends the word.
func (f *wrap) endWord() {
	f.endCluster()
	f.endPart()
	f.last = 0
}

// endProse writes the held text of a complete paragraph.
func (f *wrap) endProse() {
	f.endWord()
	f.blanks.clear()
}

// joinProse writes the held text of a paragraph whose line continues with other output.
func (f *wrap) joinProse() {
	f.endWord()
	f.line.col += f.gap()
	f.line.placeText(f.blanks)
	f.blanks.clear()
}
