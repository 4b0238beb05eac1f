package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// The number of rows, and of their bytes, that decide the widths of a table's columns. Until then
// nothing of the table is shown. Later rows use the same widths.
const (
	maxRows     = 100
	maxGathered = 16 << 10
)

// between is the number of blanks between columns.
const between = 2

// A grid is a table in columns or, if they do not fit on the screen, in records.
type grid struct {
	heads  []page
	aligns []east.Alignment
	rows   [][]page
	size   int   // of the rows
	widths []int // of the columns, once they are decided
	laid   bool
}

func newGrid(heads []string, header ast.Node) *grid {
	g := new(grid)
	for _, h := range heads {
		var cell page
		cell.put(Title, h)
		g.heads = append(g.heads, inOneLine(cell))
	}
	for c := header.FirstChild(); c != nil; c = c.NextSibling() {
		align := east.AlignNone
		if cell, ok := c.(*east.TableCell); ok {
			align = cell.Alignment
		}
		g.aligns = append(g.aligns, align)
	}
	return g
}

// inOneLine puts blanks in place of characters in a cell that would end its line, or whose width
// depends on their place.
func inOneLine(cell page) page {
	for i, c := range cell.text {
		if c == '\n' || c == '\t' {
			cell.text[i] = ' '
		}
	}
	return cell
}

// gridRow adds a row.
func (t *prose) gridRow(line []byte) {
	g := t.table.grid
	if len(line) > maxHeld { // the row is too long for columns
		t.layGrid()
		t.page.begin()
		t.page.write(Plain, string(line))
		t.page.end()
		return
	}
	var row []page
	nodes, src := t.table.cells(line)
	for _, c := range nodes {
		cell := page{view: t.page.view}
		cell.children(c, src, Plain)
		row = append(row, inOneLine(cell))
	}
	if g.laid {
		t.showRow(row)
		return
	}
	g.rows = append(g.rows, row)
	if g.size += len(line); len(g.rows) >= maxRows || g.size >= maxGathered {
		t.layGrid()
	}
}

// layGrid decides the widths of the columns, and shows the rows so far.
func (t *prose) layGrid() {
	g := t.table.grid
	if g.laid {
		return
	}
	g.laid = true
	widths := make([]int, len(g.heads))
	for i, h := range g.heads {
		widths[i] = t.width(h)
	}
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], t.width(cell))
		}
	}
	if t.fits(widths) {
		g.widths = widths
		t.inColumns(g.heads)
		var rule []page
		for _, w := range widths {
			var dashes page
			dashes.put(Plain, strings.Repeat("-", w))
			rule = append(rule, dashes)
		}
		t.inColumns(rule)
	} else if len(g.rows) == 0 {
		t.page.begin()
		t.page.put(Title, strings.Join(t.table.heads, ", "))
		t.page.end()
	}
	for _, row := range g.rows {
		t.showRow(row)
	}
	g.rows = nil
}

func (t *prose) width(cell page) int { return t.page.view.Width(string(cell.text)) }

// fits reports whether columns of these widths fit on the screen.
func (t *prose) fits(widths []int) bool {
	sum := len(t.page.inset) + between*(len(widths)-1)
	for _, w := range widths {
		sum += w
	}
	return sum <= t.page.view.Columns()
}

// showRow shows a row in columns or as a record.
func (t *prose) showRow(row []page) {
	widths := make([]int, len(t.table.grid.widths))
	for i := range widths {
		widths[i] = t.table.grid.widths[i]
		if i < len(row) {
			widths[i] = max(widths[i], t.width(row[i]))
		}
	}
	if len(widths) > 0 && t.fits(widths) {
		t.inColumns(row)
		return
	}
	for i, cell := range row {
		t.page.begin()
		t.page.hang = "  "
		if head := t.table.heads[i]; head != "" {
			t.page.put(Title, head+":")
			t.page.put(Plain, " ")
		}
		for _, s := range cell.spans() {
			t.page.add(s.Style, s.Flow, t.page.inset+t.page.hang, s.Text)
		}
		t.page.hang = ""
		t.page.end()
	}
	t.page.gap = true
}

// inColumns shows cells in their columns, with no blanks behind the last.
func (t *prose) inColumns(cells []page) {
	g := t.table.grid
	t.page.begin()
	blanks := 0
	for i, w := range g.widths {
		if i >= len(cells) {
			break
		}
		cell := cells[i]
		free := max(0, w-t.width(cell))
		before := 0
		switch g.aligns[i] {
		case east.AlignRight:
			before = free
		case east.AlignCenter:
			before = free / 2
		}
		if blanks += before; len(cell.text) > 0 {
			t.page.exact(Plain, strings.Repeat(" ", blanks))
			for _, s := range cell.spans() {
				t.page.exact(s.Style, s.Text)
			}
			blanks = 0
		}
		blanks += free - before + between
	}
	if !t.page.inLine { // all cells are empty
		t.page.exact(Plain, "\n")
	}
	t.page.end()
}

// endGrid ends the table.
func (t *prose) endGrid() {
	t.layGrid()
	t.page.end()
	t.page.gap = true
}
