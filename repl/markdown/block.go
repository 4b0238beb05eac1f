package markdown

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// An openBlock is a block that goldmark has open.
type openBlock struct {
	node  ast.Node
	prose *prose // of a paragraph
	lines int    // lines seen so far
	blank int    // empty lines among them that are not printed yet
	lexer *lexer // of code that is coloured
}

// sync follows goldmark: it ends blocks that goldmark has closed and begins new blocks. It reports
// whether a paragraph got a line.
func (r *Renderer) sync() bool {
	now := r.feed.pc.OpenedBlocks()
	same := 0
	for same < len(r.open) && same < len(now) && r.open[same].node == now[same].Node {
		same++
	}
	for len(r.open) > same {
		b := &r.open[len(r.open)-1]
		r.more(b)
		r.leave(b)
		r.open = r.open[:len(r.open)-1]
	}
	for _, o := range now[same:] {
		if o.Node.HasBlankPreviousLines() {
			r.page.gap = true
		}
		r.open = append(r.open, openBlock{node: o.Node})
		if o.Parser == underlined {
			r.page.underlined(o.Node.(*ast.Heading).Level)
		} else {
			r.enter(&r.open[len(r.open)-1])
		}
		forget(o.Node)
	}
	if len(r.open) == 0 {
		return false
	}
	return r.more(&r.open[len(r.open)-1])
}

// forget drops the siblings before node, which are printed already.
func forget(node ast.Node) {
	parent := node.Parent()
	for s := node.PreviousSibling(); s != nil; s = node.PreviousSibling() {
		parent.RemoveChild(parent, s)
	}
}

// paragraph returns the open paragraph.
func (r *Renderer) paragraph() *prose { return r.open[len(r.open)-1].prose }

// atTable reports whether the open paragraph is a table.
func (r *Renderer) atTable() bool { return r.paragraph().table != nil }

// enter begins a block.
func (r *Renderer) enter(b *openBlock) {
	switch n := b.node.(type) {
	case *ast.Paragraph:
		b.prose = newProse(&r.page, firstInItem(n))
	case *ast.Heading:
		style := r.page.heading(n.Level)
		var title []byte
		if n.Lines().Len() > 0 {
			title = r.feed.value(n.Lines().At(0))
		}
		heading(&r.page, title, style)
	case *ast.ThematicBreak:
		r.page.gap = true
	case *ast.Blockquote:
		r.page.openQuote()
	case *ast.ListItem:
		r.page.enter(r.marker(n))
	case *ast.FencedCodeBlock:
		var info []byte
		if n.Info != nil {
			info = r.feed.value(n.Info.Segment)
		}
		r.openCode(b, info)
	case *ast.CodeBlock:
		r.openCode(b, nil)
	}
}

// heading writes a heading's text.
func heading(p *page, title []byte, style Style) {
	in := newInline(p, style)
	in.write(title)
	in.close()
	p.end()
	p.gap = p.gap || p.view != nil
}

// languageOf returns the words before code with this info string.
func languageOf(info []byte) string {
	if words := bytes.Fields(info); len(words) > 0 {
		return "code, " + string(words[0]) + ":"
	}
	return "code:"
}

// firstInItem reports whether n is the first child of a list item.
func firstInItem(n ast.Node) bool {
	_, ok := n.Parent().(*ast.ListItem)
	return ok && n.PreviousSibling() == nil
}

// marker returns the mark before n, the newest item.
func (r *Renderer) marker(n *ast.ListItem) string {
	list := n.Parent().(*ast.List)
	if !list.IsOrdered() {
		return "- "
	}
	b := &r.open[len(r.open)-2]
	b.lines++
	return strconv.Itoa(list.Start+b.lines-1) + ". "
}

// more prints the new lines of a block, and reports whether a paragraph got a line.
func (r *Renderer) more(b *openBlock) bool {
	switch n := b.node.(type) {
	case *ast.Paragraph:
		was := b.lines
		b.lines = n.Lines().Len()
		return b.lines > was
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		for ; b.lines < n.Lines().Len(); b.lines++ {
			seg := n.Lines().At(b.lines)
			r.code(b, string(r.feed.value(seg)))
		}
	case *ast.HTMLBlock:
		for ; b.lines < n.Lines().Len(); b.lines++ {
			seg := n.Lines().At(b.lines)
			r.html(r.feed.value(seg))
		}
	}
	return false
}

// code prints a line of code. It drops empty lines at the end of indented code.
func (r *Renderer) code(b *openBlock, line string) {
	if b.node.Kind() == ast.KindCodeBlock && util.IsBlank([]byte(line)) {
		b.blank++
		return
	}
	for ; b.blank > 0; b.blank-- {
		r.codeLine(b, "")
	}
	r.codeLine(b, strings.TrimSuffix(line, "\n"))
}

// openCode and closeCode begin and end a block of code.
func (r *Renderer) openCode(b *openBlock, info []byte) {
	if r.page.view == nil {
		r.page.say(languageOf(info))
		return
	}
	r.page.apart()
	b.lexer = newLexer(languageName(info))
}

func (r *Renderer) closeCode(b *openBlock) {
	if r.page.view == nil {
		r.page.say("end of code, " + count(b.lines-b.blank, "line"))
	} else {
		r.page.gap = true
	}
}

// codeLine prints a line of code unchanged.
func (r *Renderer) codeLine(b *openBlock, line string) {
	if b.lexer == nil {
		r.page.exact(Code, line)
	} else {
		b.lexer.read(line, r.page.exact)
	}
	r.page.exact(Plain, "\n")
}

func (r *Renderer) html(line []byte) {
	if util.IsBlank(line) {
		r.page.gap = true
		return
	}
	r.page.begin()
	r.page.put(Plain, string(bytes.TrimRight(line, "\r\n")))
	r.page.end()
}

// leave ends a block.
func (r *Renderer) leave(b *openBlock) {
	switch n := b.node.(type) {
	case *ast.Paragraph:
		b.prose.close()
	case *ast.Blockquote:
		r.page.closeQuote()
	case *ast.ListItem:
		r.page.leave()
	case *ast.HTMLBlock:
		if n.HasClosure() {
			r.html(r.feed.value(n.ClosureLine))
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.closeCode(b)
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
