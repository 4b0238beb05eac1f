package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxColumns is the most columns of a table. A wider table is text.
const maxColumns = 64

// A prose shows a paragraph as it grows. A line that begins with a bar waits for the next line,
// which may make it the header of a table.
type prose struct {
	page *page
	in   *inline

	began  bool
	inLine bool
	keep   bool   // the line is parsed when it is complete
	line   []byte // the received part of the line
	header []byte // the line before, if it may be a table's header
	table  *table
}

func newProse(p *page, task bool) *prose {
	in := newInline(p, Plain)
	in.task = task
	return &prose{page: p, in: in}
}

// write adds a piece of a line, which begins with no blank.
func (t *prose) write(p []byte) {
	if len(p) == 0 {
		return
	}
	if !t.inLine {
		t.inLine = true
		if run(p[:1], "-:|") == 0 {
			t.noHeader()
		}
		t.keep = t.table != nil || t.header != nil || p[0] == '|'
	}
	if t.keep {
		t.line = append(t.line, p...)
		if t.table != nil || len(t.line) <= maxHeld {
			return
		}
		t.noHeader() // this line is no header either
		p, t.keep = t.line, false
	}
	t.text(p)
}

// text shows a piece of text.
func (t *prose) text(p []byte) {
	if !t.began {
		t.page.begin()
		t.began = true
	}
	t.in.write(p)
}

// endLine handles the end of a line.
func (t *prose) endLine() {
	line := t.line
	switch {
	case !t.keep:
		t.text([]byte("\n"))
	case t.table != nil:
		t.row(line)
	case t.header != nil && t.underline(line):
	default:
		t.noHeader()
		if line[0] == '|' {
			t.header = bytes.Clone(line)
		} else {
			t.text(append(line, '\n'))
		}
	}
	t.inLine, t.keep, t.line = false, false, t.line[:0]
}

// noHeader shows the line before, which was no header.
func (t *prose) noHeader() {
	if t.header != nil {
		t.text(append(t.header, '\n'))
		t.header = nil
	}
}

// close shows the rest.
func (t *prose) close() {
	if t.table != nil {
		t.closeTable()
		return
	}
	t.noHeader()
	t.in.close()
	t.page.end()
}

// A table is a table whose rows are being read.
type table struct {
	heads []string
	rows  int
	grid  *grid // in a View
}

// underline reports whether line and the line before it begin a table. If so, it begins the table.
func (t *prose) underline(line []byte) bool {
	if run(line, "-:| \t\r") < len(line) || len(t.header)+len(line) > maxHeld {
		return false
	}
	src := bytes.Join([][]byte{t.header, line, nil}, []byte("\n"))
	rows := tableRows(src)
	if rows == nil || rows[0].ChildCount() > maxColumns {
		return false
	}
	if t.began {
		t.in.close()
		t.page.end()
	}
	t.table, t.header = new(table), nil
	for c := rows[0].FirstChild(); c != nil; c = c.NextSibling() {
		var cell page
		cell.children(c, src, Plain)
		t.table.heads = append(t.table.heads, string(cell.text))
	}
	if t.page.view != nil {
		t.table.grid = newGrid(t.table.heads, rows[0])
		return true
	}
	t.page.begin()
	t.page.put(Spoken, "table, "+count(len(t.table.heads), "column")+": ")
	t.page.put(Title, strings.Join(t.table.heads, ", "))
	t.page.end()
	t.page.first = true
	return true
}

// tableRows returns the rows of src if it is a table, else nil.
func tableRows(src []byte) (rows []ast.Node) {
	if t, ok := parse(tables(), src).FirstChild().(*east.Table); ok {
		for r := t.FirstChild(); r != nil; r = r.NextSibling() {
			rows = append(rows, r)
		}
	}
	return rows
}

// row shows a row as a paragraph of sentences, one for each cell.
func (t *prose) row(line []byte) {
	t.table.rows++
	if t.table.grid != nil {
		t.gridRow(line)
		return
	}
	t.page.gap = true
	if len(line) > maxHeld {
		t.page.begin()
		t.page.write(Plain, string(line))
		t.page.end()
		return
	}
	cells, src := t.table.cells(line)
	for i, c := range cells {
		t.page.begin()
		t.cell(t.table.heads[i], c, src)
		t.page.end()
	}
}

// cells returns the cells of a row, and their source text.
func (t *table) cells(line []byte) (all []ast.Node, src []byte) {
	// By the row, not by the table: most cells of a wide table may be missing.
	n := min(len(t.heads), bytes.Count(line, []byte("|"))+1)
	src = []byte(strings.Repeat("|a", n) + "|\n" + strings.Repeat("|-", n) + "|\n")
	src = append(append(src, line...), '\n')
	rows := tableRows(src)
	if len(rows) < 2 {
		return nil, nil
	}
	for c := rows[1].FirstChild(); c != nil && c.Lines().Len() > 0; c = c.NextSibling() {
		all = append(all, c)
	}
	return all, src
}

// closeTable ends the table.
func (t *prose) closeTable() {
	if t.table.grid != nil {
		t.endGrid()
		return
	}
	t.page.end()
	t.page.say("end of table, " + count(t.table.rows, "row"))
}

// cell shows the sentence of one cell.
func (t *prose) cell(head string, c ast.Node, src []byte) {
	if head != "" {
		t.page.put(Title, head+":")
		if c.HasChildren() {
			t.page.put(Plain, " ")
		}
	}
	t.page.children(c, src, Plain)
}
