package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// maxHeld is the most bytes of a paragraph that are held back.
const maxHeld = 4 << 10

// An inline shows the text of one block as it comes, piece by piece. No markup is open between two
// pieces, so each piece is final.
type inline struct {
	page *page
	base Style
	task bool // the text may begin with the box of a task

	text   []byte
	from   int    // the start of the held piece, without a blank
	at     int    // the next byte to scan
	stop   int    // the last possible end of the piece
	marks  bool   // the piece contains markup
	fresh  bool   // goldmark has not read the latest markup yet
	again  int    // the length at which goldmark reads it next
	spaces []byte // blanks before the piece
}

func newInline(p *page, base Style) *inline { return &inline{page: p, base: base} }

// write adds text, whose lines begin with no blanks.
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

// next scans the next byte, c.
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
		// Text with open markup is parsed again when it has more markup, and has grown by a
		// quarter.
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

// mayEnd reports whether a piece may end before c: at a blank, or between two characters beyond
// ASCII, since not all languages use blanks. A line end after a backslash is markup.
func (in *inline) mayEnd(c byte) bool {
	if in.at == in.from || in.text[in.at-1] == '\\' {
		return false
	}
	before := in.text[in.at-1]
	return util.IsSpace(c) && !util.IsSpace(before) || c >= utf8.RuneSelf && utf8.RuneStart(c) &&
		before >= utf8.RuneSelf
}

// read parses the piece up to to, and reports whether later text can't change the result.
func (in *inline) read(to int) (doc ast.Node, settled bool) {
	src := in.text[in.from:to]
	doc = parse(texts(), src)
	l := leftover{src: src}
	return doc, !l.open(doc, false) && l.brackets == 0
}

// A leftover counts markup that goldmark has left as text.
type leftover struct {
	src      []byte
	brackets int // [ without a ]
}

// open reports whether later text could close markup in n. If inside is set, n is within an
// emphasis or a link, which a * or _ can't leave.
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

// beginsTag reports whether c, after a <, may begin a tag or an address.
func beginsTag(c byte) bool { return letter(c) || c == '/' || c == '!' || c == '?' }

// endsInWord reports whether s ends in the middle of a word.
func endsInWord(s []byte) bool {
	r, n := utf8.DecodeLastRune(s)
	return n > 0 && !util.IsSpaceRune(r) && !util.IsPunctRune(r)
}

// blank handles a blank between two pieces. In a View it is shown at once, so that the word before
// it can be printed. At the end of a line it is dropped.
func (in *inline) blank(c byte) {
	if in.page.view != nil && (c == ' ' || c == '\t') && bytes.IndexByte(in.spaces, '\n') < 0 {
		in.page.put(in.base, string(c))
	} else {
		in.spaces = append(in.spaces, c)
	}
}

// show shows the piece up to to. Doc is its parsed form, if any.
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

// print shows a final piece of text.
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
