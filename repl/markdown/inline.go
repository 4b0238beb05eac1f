package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// maxHeld is how much of a paragraph is held back at the most.
const maxHeld = 4 << 10

// An inline shows the text of one block while it comes, piece by piece. Between
// two pieces nothing is open that could change what either means.
type inline struct {
	page *page
	base Style
	task bool // the text may begin with the box of a task

	text   []byte
	from   int    // where the piece begins that is held back, with no blank
	at     int    // how far it was looked at
	stop   int    // the last place where it may end
	marks  bool   // there is markup in it
	fresh  bool   // and some that goldmark has not read
	again  int    // how long it is when goldmark reads it next
	spaces []byte // before the piece
}

func newInline(p *page, base Style) *inline { return &inline{page: p, base: base} }

// write takes in more of the text, whose lines begin with no blanks.
func (in *inline) write(p []byte) {
	in.text = append(in.text, p...)
	for in.at < len(in.text) {
		in.next(in.text[in.at])
	}
	if in.from > len(in.text)/2 {
		in.text = in.text[:copy(in.text, in.text[in.from:])]
		in.at, in.stop, in.from = in.at-in.from, in.stop-in.from, 0
	}
}

// close shows the rest.
func (in *inline) close() { in.show(len(in.text), nil) }

// next looks at the next byte, c.
func (in *inline) next(c byte) {
	switch {
	case in.at == in.from && util.IsSpace(c):
		in.blank(c)
		in.from++
	case in.at-in.from >= maxHeld:
		if in.stop <= in.from {
			in.stop = in.at
		}
		in.show(in.stop, nil)
		return
	case in.mayEnd(c):
		in.stop = in.at
		if !in.marks {
			in.show(in.at, nil)
			return
		}
		// What stays open is read again when more markup has come, and a fourth
		// more of text.
		if n := in.at - in.from; in.fresh && n >= in.again {
			in.fresh, in.again = false, n+n/4
			if doc, settled := in.read(in.at); settled {
				in.show(in.at, doc)
				return
			}
		}
	}
	in.marks = in.marks || bytes.IndexByte([]byte("\\&`*_~[<"), c) >= 0
	in.fresh = in.fresh || bytes.IndexByte([]byte("\\&`*_~[<]>)"), c) >= 0
	in.at++
}

// mayEnd reports whether a piece may end before c: where there is a blank, or
// between two characters beyond ASCII, since not everyone writes blanks. Behind a
// backslash a line end has a meaning.
func (in *inline) mayEnd(c byte) bool {
	if in.at == in.from || in.text[in.at-1] == '\\' {
		return false
	}
	before := in.text[in.at-1]
	return util.IsSpace(c) && !util.IsSpace(before) || c >= utf8.RuneSelf && utf8.RuneStart(c) &&
		before >= utf8.RuneSelf
}

// read has goldmark read the piece as it would be if it ended at to, and
// reports whether nothing that may follow would change that.
func (in *inline) read(to int) (doc ast.Node, settled bool) {
	src := in.text[in.from:to]
	doc = parse(texts(), src)
	l := leftover{src: src}
	return doc, !l.open(doc, false) && l.brackets == 0
}

// A leftover is the markup that goldmark has left as text.
type leftover struct {
	src      []byte
	brackets int // [ without a ]
}

// open reports whether what is left in n may mean something once more has come.
// Inside is what is emphasized or a link: * and _ in there can't reach out.
func (l *leftover) open(n ast.Node, inside bool) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if l.openIn(c.Segment.Start, c.Segment.Stop, inside) {
				return true
			}
		case *ast.CodeSpan:
		default:
			if l.open(c, c.Type() == ast.TypeInline) {
				return true
			}
		}
	}
	return false
}

func (l *leftover) openIn(i, end int, inside bool) bool {
	for ; i < end; i++ {
		rest := l.src[i:]
		switch c := rest[0]; c {
		case '\\':
			i++
		case '`':
			return true
		case '<':
			// Without quotation marks the first > would have ended a tag.
			tag, _, ended := bytes.Cut(rest, []byte(">"))
			if len(rest) > 1 && beginsTag(rest[1]) && (!ended || bytes.ContainsAny(tag, `"'!?`)) {
				return true
			}
		case '[':
			l.brackets++
		case ']':
			if l.brackets == 0 {
				continue
			}
			if l.brackets--; len(rest) > 1 && rest[1] == '(' {
				return true
			}
		case '*', '_', '~':
			n := run(rest, string(c))
			if !inside && n < len(rest) && !util.IsSpace(rest[n]) && (c != '~' || n == 2) &&
				(c != '_' || !endsInWord(l.src[:i])) {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// beginsTag reports whether a tag or an address may begin with c behind its <.
func beginsTag(c byte) bool { return letter(c) || c == '/' || c == '!' || c == '?' }

// endsInWord reports whether s ends in the middle of a word.
func endsInWord(s []byte) bool {
	r, n := utf8.DecodeLastRune(s)
	return n > 0 && !util.IsSpaceRune(r) && !util.IsPunctRune(r)
}

// blank takes in a blank between two pieces. In a View it is shown at once, so
// that the word before it is known to be whole; at the end of a line it goes.
func (in *inline) blank(c byte) {
	if in.page.view != nil && (c == ' ' || c == '\t') && bytes.IndexByte(in.spaces, '\n') < 0 {
		in.page.put(in.base, string(c))
	} else {
		in.spaces = append(in.spaces, c)
	}
}

// show shows the piece up to to, which goldmark may have read.
func (in *inline) show(to int, doc ast.Node) {
	if text := in.text[in.from:to]; len(text) > 0 {
		text = text[:len(text)-util.TrimRightSpaceLength(text)]
		if bytes.IndexByte(in.spaces, '\n') >= 0 {
			in.page.write(in.base, "\n")
		} else {
			in.page.put(in.base, string(in.spaces))
		}
		in.spaces = in.spaces[:0]
		in.print(text, doc, to < len(in.text))
	}
	in.from, in.at, in.marks, in.fresh, in.again = to, to, false, false, 0
}

// print shows text that stands for itself.
func (in *inline) print(text []byte, doc ast.Node, follows bool) {
	task := in.task && follows
	in.task = false
	switch s := string(text); {
	case task && in.page.view != nil && (s == "[ ]" || s == "[x]" || s == "[X]"):
		in.page.glue(s)
	case task && s == "[ ]":
		in.page.put(Spoken, "to do:")
	case task && (s == "[x]" || s == "[X]"):
		in.page.put(Spoken, "finished:")
	case doc != nil:
		in.page.paragraphs(doc, text, in.base)
	case in.marks:
		in.page.inline(text, in.base)
	default:
		in.page.write(in.base, s)
	}
}
