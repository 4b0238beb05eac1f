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
	Spoken         // words that stand for markup, such as "code, go:"
	Title          // of a heading or a column
	Strong         // **so**
	Emphasis       // *so*
	Code           // `so`, or in a block
	Address        // of a link or an image
	Struck         // ~~so~~

	// For those who see.
	Headline // of a text, which is a heading of level 1
	Keyword  // and others, in code
	String
	Number
	Comment
	Added // and others, in a diff
	Removed
	Hunk
)

// A Span is text in one style. Flow and Hang are those of a View: where its
// line may be broken, and what the line begins with that follows.
type Span struct {
	Text  string
	Style Style
	Flow  output.Flow
	Hang  string
}

// A Renderer reads one text. The zero Renderer is not ready; see [New]. Close
// must be called, as goldmark waits beside it for the rest.
type Renderer struct {
	page page
	feed *feed
	open []openBlock // as goldmark has them open, outermost first

	line    []byte // what has come of a line whose meaning is open
	looked  int    // how many bytes of line were looked at
	running bool   // the rest of the line is text of the open paragraph
	over    bool
}

// New returns a Renderer that has read nothing. Without a View it puts in words
// what would be lost with the markup.
func New(v *View) *Renderer {
	r := &Renderer{page: page{view: v}}
	r.feed = newFeed(r.atTable)
	return r
}

// Write takes in a piece and returns what can be shown. After Close it must
// not be called.
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

// Close says that nothing follows, and returns the rest.
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

// take takes in a piece of a line.
func (r *Renderer) take(p []byte) {
	if r.running {
		r.paragraph().write(p)
		return
	}
	r.line = append(r.line, p...)
	// What stays open is looked at again only when it has doubled.
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

// tryHead gives the head of the line to goldmark, if it settles what the line
// is, and what follows it to the paragraph.
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
