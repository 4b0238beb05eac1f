package markdown

import (
	"bytes"

	"gemline/repl/output"
)

// A Style says what a piece of text is.
type Style int

// The styles.
const (
	Plain    Style = iota
	Spoken         // words in place of markup, such as "code, go:"
	Title          // of a heading or a column
	Strong         // **so**
	Emphasis       // *so*
	Code           // `so`, or in a block
	Address        // of a link or an image
	Struck         // ~~so~~

	// Styles in a View only.
	Headline // a heading of level 1
	Keyword  // this and the following styles are for code
	String
	Number
	Comment
	Added // this and the following styles are for diffs
	Removed
	Hunk
)

// A Span is text in one style. Flow and Hang are for a View: where its line may be broken, and the
// indentation of the next line.
type Span struct {
	Text  string
	Style Style
	Flow  output.Flow
	Hang  string
}

// A Renderer reads one text. The zero Renderer is not ready; see [New]. The caller must call Close,
// since a goroutine of goldmark waits for the rest.
type Renderer struct {
	page page
	feed *feed
	open []openBlock // goldmark's open blocks, outermost first

	line    []byte // the received part of an undecided line
	looked  int    // how many bytes of line were examined
	running bool   // the rest of the line is text of the open paragraph
	over    bool
}

// New returns a Renderer for a new text. Without a View it describes markup in words.
func New(v *View) *Renderer {
	r := &Renderer{page: page{view: v}}
	r.feed = newFeed(r.atTable)
	return r
}

// Write adds a piece and returns the spans to show now. It must not be called after Close.
func (r *Renderer) Write(delta string) []Span {
	for p := []byte(delta); len(p) > 0; {
		n, ended := len(p), false
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			n, ended = i, true
		}
		r.take(p[:n])
		if ended {
			r.endLine()
			n++
		}
		p = p[n:]
	}
	return r.page.spans()
}

// Close ends the text and returns the rest.
func (r *Renderer) Close() []Span {
	if r.over {
		return nil
	}
	if r.running || len(r.line) > 0 {
		r.endLine()
	}
	r.over = true
	r.feed.close()
	r.sync()
	return r.page.spans()
}

// take adds a piece of a line.
func (r *Renderer) take(p []byte) {
	if r.running {
		r.paragraph().write(p)
		return
	}
	r.line = append(r.line, p...)
	// An undecided line is examined again only when its length has doubled.
	if r.looked < 64 || len(r.line) >= 2*r.looked {
		r.tryHead()
	}
}

func (r *Renderer) endLine() {
	if !r.running {
		r.tryHead()
	}
	if r.running {
		r.paragraph().endLine()
		r.running = false
		return
	}
	line := r.line
	r.line, r.looked = r.line[:0], 0
	r.feed.line(line)
	if r.sync() {
		r.paragraph().write(line[r.feed.textAt(len(line)):])
		r.paragraph().endLine()
	}
}

// tryHead gives the beginning of the line to goldmark, if it decides the kind of the line, and the
// rest to the paragraph.
func (r *Renderer) tryHead() {
	r.looked = len(r.line)
	kind := r.feed.innermost()
	if kind == verbatim {
		return
	}
	n := head(r.line, kind == paragraph)
	if n == 0 {
		return
	}
	line := r.line
	r.line, r.looked = r.line[:0], 0
	r.feed.line(line[:n])
	if !r.sync() { // it is not text after all, so the rest is another line
		r.line = append(r.line, line[n:]...)
		return
	}
	r.running = true
	r.paragraph().write(line[r.feed.textAt(n):])
}
