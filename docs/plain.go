package docs

import (
	"strings"
	"unicode/utf8"
)

// A Block is a piece of a page.
type Block struct {
	Kind  Kind
	Lines []string   // of code; else one, without marks
	Rows  [][]string // of a table, its head first, without marks
	Mark  string     // of an item: - or a number
}

// Kind is what a block is.
type Kind int

// The kinds of blocks.
const (
	Paragraph Kind = iota
	Title          // the head of the page
	Heading
	Item
	Code
	Table
)

// Blocks takes a page apart.
func Blocks(text string) []Block {
	var out []Block
	open := false // the last block goes on
	fence := ""   // what closes the code that is open
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		mark, rest := item(bare)
		switch last := len(out) - 1; {
		case fence != "" && strings.HasPrefix(bare, fence) && strings.Trim(bare, "`") == "":
			fence = ""
		case fence != "":
			out[last].Lines = append(out[last].Lines, line)
		case strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
			out, open = append(out, Block{Kind: Code}), false
		case bare == "":
			open = false
		case strings.HasPrefix(line, "    ") && (!open || out[last].Kind == Code):
			if !open {
				out = append(out, Block{Kind: Code})
				last++
			}
			out[last].Lines = append(out[last].Lines, line[4:])
			open = true
		case strings.HasPrefix(bare, "#") && strings.HasPrefix(strings.TrimLeft(bare, "#"), " "):
			kind := Heading
			if strings.HasPrefix(bare, "# ") {
				kind = Title
			}
			out = append(out, Block{Kind: kind, Lines: []string{inline(strings.TrimLeft(bare, "# "))}})
			open = false
		case strings.HasPrefix(bare, "|"):
			if !open || out[last].Kind != Table {
				out = append(out, Block{Kind: Table})
				last++
			}
			if strings.Trim(bare, "|-: ") != "" || len(out[last].Rows) == 0 { // no rule below the head
				out[last].Rows = append(out[last].Rows, cells(bare))
			}
			open = true
		case mark != "":
			out = append(out, Block{Kind: Item, Mark: mark, Lines: []string{inline(rest)}})
			open = true
		case open && (out[last].Kind == Paragraph || out[last].Kind == Item):
			out[last].Lines[0] += " " + inline(bare)
		default:
			out = append(out, Block{Lines: []string{inline(bare)}})
			open = true
		}
	}
	return out
}

// item takes the mark of an item of a list from a line.
func item(line string) (mark, rest string) {
	mark, rest, ok := strings.Cut(line, " ")
	number := strings.TrimSuffix(mark, ".")
	if ok && (mark == "-" || mark == "*" || number != mark && number != "" &&
		strings.Trim(number, "0123456789") == "") {
		return mark, rest
	}
	return "", line
}

// cells takes a row of a table apart.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	const bar = "\x00"
	var out []string
	for cell := range strings.SplitSeq(strings.ReplaceAll(line, `\|`, bar), "|") {
		out = append(out, inline(strings.TrimSpace(strings.ReplaceAll(cell, bar, "|"))))
	}
	return out
}

// inline returns the text of a line without its marks. A link to a page is its
// words, another one is followed by its address.
func inline(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		switch s[0] {
		case '`':
			n := len(s) - len(strings.TrimLeft(s, "`"))
			code, after, ok := strings.Cut(s[n:], s[:n])
			if !ok {
				b.WriteString(s[:n])
				s = s[n:]
				continue
			}
			if n > 1 {
				code = strings.TrimSpace(code)
			}
			b.WriteString(code)
			s = after
		case '\\':
			if len(s) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>", s[1]) >= 0 {
				s = s[1:]
			}
			b.WriteByte(s[0])
			s = s[1:]
		case '*':
			if rest := strings.TrimLeft(s, "*"); strings.HasPrefix(rest, " ") &&
				(b.Len() == 0 || strings.HasSuffix(b.String(), " ")) {
				b.WriteString(s[:len(s)-len(rest)]) // a star of its own
			}
			s = strings.TrimLeft(s, "*")
		case '[':
			words, address, after, ok := link(s)
			if !ok {
				b.WriteByte('[')
				s = s[1:]
				continue
			}
			b.WriteString(inline(words))
			if strings.Contains(address, "://") {
				b.WriteString(" <" + address + ">")
			}
			s = after
		default:
			n := strings.IndexAny(s[1:], "`\\*[")
			if n < 0 {
				n = len(s) - 1
			}
			b.WriteString(s[:n+1])
			s = s[n+1:]
		}
	}
	return b.String()
}

// link takes a link from the front of s.
func link(s string) (words, address, after string, ok bool) {
	words, rest, ok := strings.Cut(s[1:], "](")
	if !ok || strings.Contains(words, "[") {
		return "", "", "", false
	}
	address, after, ok = strings.Cut(rest, ")")
	return words, address, after, ok
}

// Plain returns a page as text without marks, in lines of at most width
// characters, unless a word or a line of code is longer.
func Plain(text string, width int) string {
	var b strings.Builder
	before := Title
	for i, block := range Blocks(text) {
		if i > 0 && !(block.Kind == Item && before == Item) {
			b.WriteByte('\n')
		}
		before = block.Kind
		switch block.Kind {
		case Title, Heading:
			b.WriteString(strings.ToUpper(block.Lines[0]) + "\n")
		case Code:
			for _, l := range block.Lines {
				b.WriteString(strings.TrimRight("    "+l, " ") + "\n")
			}
		case Item:
			fill(&b, block.Mark+" ", strings.Repeat(" ", len(block.Mark)+1), block.Lines[0], width)
		case Table:
			table(&b, block.Rows, width)
		default:
			fill(&b, "", "", block.Lines[0], width)
		}
	}
	return b.String()
}

// table writes what stands in the first column of each row, and behind or below
// it, set in, what stands in the others. Of several others each has the name of
// its column.
func table(b *strings.Builder, rows [][]string, width int) {
	const narrow = 16
	beside, wide := true, 0
	for _, row := range rows[1:] {
		n := utf8.RuneCountInString(row[0])
		beside, wide = beside && n <= narrow && len(row) == 2, max(wide, n)
	}
	for _, row := range rows[1:] {
		if beside {
			first := "  " + row[0] + strings.Repeat(" ", wide-utf8.RuneCountInString(row[0])+2)
			fill(b, first, strings.Repeat(" ", wide+4), row[1], width)
			continue
		}
		fill(b, "  ", "    ", row[0], width)
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if i+1 < len(rows[0]) && len(row) > 2 && rows[0][i+1] != "" {
				cell = rows[0][i+1] + ": " + cell
			}
			fill(b, "      ", "      ", cell, width)
		}
	}
}

// fill writes words in lines, of which the first begins with first and the
// others with rest.
func fill(b *strings.Builder, first, rest, text string, width int) {
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
