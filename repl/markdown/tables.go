package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Tables returns the tables of a text, row by row, the column names first. All rows of a table have
// the same number of cells.
func Tables(answer string) (all [][][]string) {
	src := []byte(answer + "\n")
	doc := parse(blockParser(narrow{extension.NewTableParagraphTransformer()}), src)
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*east.Table); ok && entering {
			all = append(all, cells(t, src))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return all
}

// narrow rejects tables with more columns than are shown: all their rows would be filled up to that
// number.
type narrow struct{ parser.ParagraphTransformer }

func (t narrow) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	for i := range node.Lines().Len() {
		seg := node.Lines().At(i)
		line := seg.Value(reader.Source())
		if run(line, "-:| \t\r\n") == len(line) && bytes.Count(line, []byte("|")) > maxColumns {
			return
		}
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}

// cells returns the text of each cell, as shown.
func cells(t *east.Table, src []byte) (rows [][]string) {
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var row []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			var p page
			if c.Lines().Len() > 0 {
				p.inline(bytes.ReplaceAll(c.Lines().Value(src), []byte(`\|`), []byte("|")), Plain)
			}
			row = append(row, string(bytes.TrimSpace(p.text)))
		}
		rows = append(rows, row)
	}
	return rows
}
