package markdown

import (
	"bytes"
	"iter"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxDepth is the most blocks around a block: a quote is one block, a list and its item are two.
// Deeper blocks are text.
const maxDepth = 32

// A feed gives goldmark a text line by line. Between two lines, goldmark waits in its call for the
// next line.
type feed struct {
	text.Reader // of the lines so far
	pc          parser.Context
	src         []byte // all lines so far
	start       int    // of the last line
	ended       bool
	rest        func(struct{}) bool
	next        func() (struct{}, bool)
	stop        func()
}

// newFeed returns a feed without text. At the end of a paragraph, atTable says whether the
// paragraph was a table.
func newFeed(atTable func() bool) *feed {
	// The empty line keeps a new Reader from looking for its end.
	f := &feed{pc: parser.NewContext(), src: []byte("\n")}
	f.Reader = text.NewReader(f.src)
	p := blockParser(tableEnd{atTable})
	f.next, f.stop = iter.Pull(func(yield func(struct{}) bool) {
		f.rest = yield
		p.Parse(f, parser.WithContext(f.pc))
	})
	f.next()
	return f
}

// PeekLine waits for a line.
func (f *feed) PeekLine() ([]byte, text.Segment) {
	line, seg := f.Reader.PeekLine()
	for line == nil && !f.ended {
		f.rest(struct{}{})
		line, seg = f.Reader.PeekLine()
	}
	return line, seg
}

// SkipBlankLines does the same as the Reader's, and waits for lines.
func (f *feed) SkipBlankLines() (text.Segment, int, bool) {
	for n := 0; ; n++ {
		line, seg := f.PeekLine()
		if line == nil || !util.IsBlank(line) {
			return seg, n, line != nil
		}
		f.AdvanceLine()
	}
}

// line gives goldmark one line, without a newline.
func (f *feed) line(line []byte) {
	n, _ := f.Position()
	f.start = len(f.src)
	f.src = append(append(f.src, line...), '\n')
	f.Reader = text.NewReader(f.src)
	f.SetPosition(n, text.NewSegment(f.start, f.start))
	f.AdvanceLine()
	f.next()
}

// close tells goldmark that there are no more lines.
func (f *feed) close() {
	f.ended = true
	f.next()
	f.stop()
}

// value returns the text of seg.
func (f *feed) value(seg text.Segment) []byte { return seg.Value(f.src) }

// textAt returns the start of the paragraph's text in the last line, which has n bytes.
func (f *feed) textAt(n int) int {
	lines := f.pc.LastOpenedBlock().Node.Lines()
	at := lines.At(lines.Len()-1).Start - f.start
	for at < n && util.IsSpace(f.src[f.start+at]) {
		at++
	}
	return at
}

// A content is the kind of a block's lines.
type content int

const (
	other     content = iota
	paragraph         // text
	verbatim          // code or HTML, unchanged
)

// innermost returns the kind of the innermost open block.
func (f *feed) innermost() content {
	switch f.pc.LastOpenedBlock().Node.(type) {
	case *ast.Paragraph:
		return paragraph
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		return verbatim
	}
	return other
}

// blockParser returns a parser of blocks only, which leaves inline text alone.
func blockParser(tables parser.ParagraphTransformer) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(underlined, 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(depthLimit{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(depthLimit{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithParagraphTransformers(util.Prioritized(tables, 200)),
	)
}

// underlined reads headings that are marked by the line below.
var underlined = parser.NewSetextHeadingParser()

// depthLimit opens no block inside more than maxDepth blocks.
type depthLimit struct{ parser.BlockParser }

func (s depthLimit) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, seg := reader.Position()
	node, state := s.BlockParser.Open(parent, reader, pc)
	depth := 0
	for n := parent; node != nil && n != nil; n = n.Parent() {
		depth++
	}
	if depth <= maxDepth {
		return node, state
	}
	reader.SetPosition(line, seg)
	return nil, parser.NoChildren
}

// tableEnd removes printed tables from the paragraphs.
type tableEnd struct{ atTable func() bool }

func (t tableEnd) Transform(node *ast.Paragraph, _ text.Reader, _ parser.Context) {
	if t.atTable() {
		parent := node.Parent()
		parent.ReplaceChild(parent, node, east.NewTable())
	}
}

// tableParser reads a table's lines alone.
func tableParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// textParser reads the text of a paragraph.
func textParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(inlineParsers()...),
	)
}

func inlineParsers() []util.PrioritizedValue {
	return append(parser.DefaultInlineParsers(), util.Prioritized(doubleTilde{extension.NewStrikethroughParser()}, 500))
}

// doubleTilde reads ~~text~~ as struck out, but not ~text~: a single ~ usually means about.
type doubleTilde struct{ parser.InlineParser }

func (s doubleTilde) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); !bytes.HasPrefix(line, []byte("~~")) {
		return nil
	}
	return s.InlineParser.Parse(parent, block, pc)
}
