package markdown

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The parsers are made at their first use, and are stateless.
var (
	texts  = sync.OnceValue(textParser)
	tables = sync.OnceValue(tableParser)
)

// parse parses src alone.
func parse(p parser.Parser, src []byte) ast.Node {
	return p.Parse(text.NewReader(src))
}

// inline shows text with its inline markup.
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

// references matches escaping backslashes, and names of characters.
var references = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\[!-/:-@[-\x60{-~]|&[0-9A-Za-z#]{1,38};`)
})

// decode replaces references in s by their characters.
func decode(s []byte) string {
	if !bytes.ContainsAny(s, `\&`) {
		return string(s)
	}
	return references().ReplaceAllStringFunc(string(s), func(r string) string {
		if r[0] == '\\' {
			return r[1:]
		}
		return html.UnescapeString(r)
	})
}
