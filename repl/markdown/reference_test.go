package markdown

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// reference lays out a text that goldmark has read as a whole: its blocks in
// one go, and each paragraph in one go.
func reference(src string) string {
	b := []byte(strings.TrimSuffix(src, "\n") + "\n") // goldmark reads the last line otherwise if it has no end
	doc := blockParser(wholeTables{}).Parse(text.NewReader(b))
	w := &whole{src: b}
	w.children(doc)
	return string(w.page.text)
}

// wholeTables finds tables in whole paragraphs.
type wholeTables struct{}

func (wholeTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	src, lines := reader.Source(), node.Lines()
	for i := 1; i < lines.Len(); i++ {
		head, line := lines.At(i-1), lines.At(i)
		head, line = head.TrimLeftSpace(src), line.TrimLeftSpace(src)
		if src[head.Start] != '|' || run(line.Value(src), "-:| \t\r\n") < line.Len() {
			continue
		}
		if two := tableRows(append(bytes.Clone(head.Value(src)), line.Value(src)...)); two == nil || two[0].ChildCount() > maxColumns {
			continue
		}
		rest := ast.NewParagraph()
		for j := i - 1; j < lines.Len(); j++ {
			seg := lines.At(j)
			rest.Lines().Append(seg.TrimLeftSpace(src))
		}
		parent := node.Parent()
		parent.InsertAfter(parent, node, rest)
		extension.NewTableParagraphTransformer().Transform(rest, reader, pc)
		t := node.NextSibling().(*east.Table)
		if i == 1 {
			t.SetBlankPreviousLines(node.HasBlankPreviousLines())
		} else {
			before := ast.NewParagraph()
			before.SetBlankPreviousLines(node.HasBlankPreviousLines())
			for j := range i - 1 {
				before.Lines().Append(lines.At(j))
			}
			parent.InsertBefore(parent, node, before)
		}
		parent.RemoveChild(parent, node)
		return
	}
}

type whole struct {
	page page
	src  []byte
}

func (w *whole) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.HasBlankPreviousLines() {
			w.page.gap = true
		}
		w.block(c)
	}
}

// lines joins the lines of a block.
func (w *whole) lines(n ast.Node) []byte {
	var b []byte
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b = append(b, seg.Value(w.src)...)
	}
	return b
}

// prose shows a paragraph without a look at how it grows.
func (w *whole) prose(n ast.Node) {
	w.page.begin()
	src := bytes.Trim(trimLines(w.lines(n)), " \t\n\r")
	if firstInItem(n) && len(src) >= 3 && src[0] == '[' && src[2] == ']' {
		words := map[byte]string{' ': "to do:", 'x': "finished:", 'X': "finished:"}[src[1]]
		if words != "" && (len(src) == 3 || bytes.IndexByte([]byte(" \t\n\r"), src[3]) >= 0) {
			w.page.put(Spoken, words)
			rest := bytes.TrimLeft(src[3:], " \t\n\r")
			gap := src[3 : len(src)-len(rest)]
			if bytes.IndexByte(gap, '\n') >= 0 {
				gap = []byte("\n")
			}
			w.page.write(Plain, string(gap))
			src = rest
		}
	}
	w.page.inline(src, Plain)
	w.page.end()
}

// trimLines trims what a blank-looking line may begin with.
func trimLines(b []byte) []byte {
	var out []byte
	for l := range bytes.Lines(b) {
		out = append(out, bytes.TrimLeft(l, " \t\r")...)
	}
	return out
}

func (w *whole) block(n ast.Node) {
	r := &Renderer{feed: &feed{src: w.src}}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		w.prose(n)
	case *ast.Heading:
		if w.underlined(n) {
			w.prose(n)
			w.page.say("heading " + strconv.Itoa(n.Level) + " above")
			return
		}
		w.page.begin()
		w.page.put(Spoken, "heading "+strconv.Itoa(n.Level)+": ")
		w.page.inline(bytes.Trim(w.lines(n), " \t\n\r"), Title)
		w.page.end()
	case *ast.ThematicBreak:
		w.page.gap = true
	case *ast.Blockquote:
		w.page.say("quote:")
		w.page.first = true
		w.children(n)
		w.page.say("end of quote")
	case *ast.List:
		i := n.Start
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if c.HasBlankPreviousLines() {
				w.page.gap = true
			}
			marker := "- "
			if n.IsOrdered() {
				marker = strconv.Itoa(i) + ". "
				i++
			}
			w.page.enter(marker)
			w.children(c)
			w.page.leave()
		}
	case *ast.FencedCodeBlock:
		words := "code:"
		if n.Info != nil {
			words = languageOf(n.Info.Segment.Value(w.src))
		}
		w.code(n, words)
	case *ast.CodeBlock:
		w.code(n, "code:")
	case *ast.HTMLBlock:
		for i := range n.Lines().Len() {
			seg := n.Lines().At(i)
			r.page, w.page = w.page, page{}
			r.html(seg.Value(w.src))
			w.page = r.page
		}
		if n.HasClosure() {
			r.page = w.page
			r.html(n.ClosureLine.Value(w.src))
			w.page = r.page
		}
	case *east.Table:
		w.table(n)
	default:
		panic(n.Kind().String())
	}
}

// underlined reports whether a heading is one by the line below it.
func (w *whole) underlined(n *ast.Heading) bool {
	if n.Lines().Len() == 0 {
		return false
	}
	before := bytes.TrimRight(w.src[:n.Lines().At(0).Start], " \t\r")
	return len(before) == 0 || before[len(before)-1] != '#'
}

func (w *whole) code(n ast.Node, words string) {
	w.page.say(words)
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		line := string(seg.Value(w.src))
		if n.Kind() == ast.KindCodeBlock && strings.Trim(line, " \t\r\n") == "" {
			line = ""
		}
		w.page.put(Code, strings.TrimSuffix(line, "\n"))
		w.page.put(Plain, "\n")
	}
	w.page.say("end of code, " + count(n.Lines().Len(), "line"))
}

func (w *whole) table(n *east.Table) {
	var heads []string
	rows := 0
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		if _, ok := r.(*east.TableHeader); ok {
			var all []byte
			for c := r.FirstChild(); c != nil; c = c.NextSibling() {
				var cell page
				w.cell(&cell, c)
				heads = append(heads, string(cell.text))
				if len(heads) > 1 {
					all = append(all, ", "...)
				}
				all = append(all, cell.text...)
			}
			w.page.say("table, " + count(len(heads), "column") + ": " + string(all))
			w.page.first = true
			continue
		}
		rows++
		w.page.gap = true
		i := 0
		for c := r.FirstChild(); c != nil && c.Lines().Len() > 0; c = c.NextSibling() {
			var cell page
			w.cell(&cell, c)
			w.page.begin()
			head := heads[i]
			if head != "" {
				head += ":"
				if len(cell.text) > 0 {
					head += " "
				}
			}
			w.page.put(Plain, head+string(cell.text))
			w.page.end()
			i++
		}
	}
	w.page.say("end of table, " + count(rows, "row"))
}

// cell shows a cell, which has bars that stand for themselves.
func (w *whole) cell(p *page, c ast.Node) {
	src := []byte("|a|\n|-|\n|" + string(w.lines(c)) + "|\n")
	rows := tableRows(src)
	if n := rows[1].FirstChild(); n != nil {
		p.children(n, src, Plain)
	}
}

// misread reports whether goldmark is known to misread src: a backslash that
// ends a line may count for the next line, if another one or blanks are beside
// it.
func misread(src string) bool { return misleading.MatchString(src) }

var misleading = regexp.MustCompile(`(\\\\\\|\\[ \t]+)\r?\n`)

func FuzzRenderer(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, src string, a, b uint8) {
		if len(src) > maxHeld/2 {
			return
		}
		got := shown(src)
		if split := shown(src, int(a)+1, int(b)+1, 1); split != got {
			t.Fatalf("%q in pieces of %d and %d: %s", src, int(a)+1, int(b)+1, cmp.Diff(got, split))
		}
		if whole := reference(src); whole != got && !misread(src) {
			t.Fatalf("%q read as a whole:\n%q\nin one pass:\n%q", src, whole, got)
		}
	})
}

var seeds = []string{
	"# Title\n\nSome *text* with `code` and [a link](http://x.y \"t\").\n\n- one\n- two\n  - three\n\n1. a\n2. b\n",
	"```go\nfunc main() {}\n```\n\n> quote\n> more\n\nlast **bold",
	"| a | b |\n|---|:-:|\n| 1 | `x\\|y` |\n| 2 |\n\nend",
	"Title\n===\n\nother\n---\n---\n- [x] done\n- [ ] not\n",
	"a\n    b\n\n    code\n\n\n    more\n\n<div>\nx\n</div>\n\n<b>hi</b> <http://a.b> &amp; &copy;",
	"日本語**太字**です。~~no~~ ~5 snake_case a*b*c ![i](u) [x][y] [z\\](w)",
	"- - * a\n+ \n1) x\n\n     deep\n>>> q\nlazy\n* * *\n",
	"`` a ` b `` <!-- c --> <?php ?> <a b='c>d'> [a](<b c> (t)) \\\nnext  \nhard",
}
