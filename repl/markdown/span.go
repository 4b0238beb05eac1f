package markdown

import (
	"bytes"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parsers are made when they are needed first, and keep nothing of what
// they read.
var (
	texts  = sync.OnceValue(textParser)
	tables = sync.OnceValue(tableParser)
)

// parse reads src for itself.
func parse(p parser.Parser, src []byte) ast.Node {
	return p.Parse(text.NewReader(src))
}

// inline shows text as goldmark reads it.
func (p *page) inline(src []byte, base Style) {
	p.paragraphs(parse(texts(), src), src, base)
}

func (p *page) paragraphs(doc ast.Node, src []byte, base Style) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		p.children(n, src, base)
	}
}

func (p *page) children(n ast.Node, src []byte, s Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.node(c, src, s)
	}
}

// node shows one piece of a text.
func (p *page) node(n ast.Node, src []byte, s Style) {
	switch n := n.(type) {
	case *ast.Text:
		p.write(s, decode(n.Segment.Value(src)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.write(s, "\n")
		}
	case *ast.String:
		p.write(s, string(n.Value))
	case *ast.CodeSpan:
		p.write(Code, strings.ReplaceAll(raw(n, src), "\n", " "))
	case *ast.Emphasis:
		if n.Level > 1 {
			p.children(n, src, Strong)
		} else {
			p.children(n, src, Emphasis)
		}
	case *east.Strikethrough:
		p.put(Spoken, "(struck out: ")
		p.children(n, src, Struck)
		p.put(Spoken, ")")
	case *ast.Link:
		p.children(n, src, s)
		if to := decode(n.Destination); to != words(n, src) {
			p.to(to)
		}
	case *ast.Image:
		p.put(Spoken, "image: ")
		p.children(n, src, s)
		p.to(decode(n.Destination))
	case *ast.AutoLink:
		p.put(Address, string(n.Label(src)))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			p.write(s, string(seg.Value(src)))
		}
	default:
		p.children(n, src, s)
	}
}

// to shows the address of a link.
func (p *page) to(address string) {
	if address == "" {
		return
	}
	p.put(Plain, " (")
	p.write(Address, address)
	p.put(Plain, ")")
}

// words returns a link's text without markup.
func words(n ast.Node, src []byte) string {
	var inner page
	inner.children(n, src, Plain)
	return string(inner.text)
}

// raw returns the text of a code span.
func raw(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(src))
		}
	}
	return b.String()
}

// decode returns s without the backslashes that only keep a character from
// being markup, and with characters for their names.
func decode(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		return string(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			n := entity(s[i:])
			b.WriteString(html.UnescapeString(string(s[i : i+n])))
			i += n - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// entity returns how long the name of a character is that s begins with, or 1.
func entity(s []byte) int {
	for i := 1; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == ';':
			return i + 1
		case !letter(c) && !digit(c) && c != '#':
			return 1
		}
	}
	return 1
}
