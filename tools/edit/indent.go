package edit

import (
	"strings"
	"unicode"
)

// A placing determines the indentation of replacement lines.
type placing struct {
	base     string             // the indentation of the first line
	as       map[string][]depth // the found lines' indentations, by the quoted line's
	quoted   map[string][]int   // the quoted lines' indices, by their trimmed text
	from, to string             // one level in the quotation and in the file; "" if unknown
}

// A depth is the indentation in the file from a quoted line on.
type depth struct {
	from   int
	indent string
}

// placing returns the placing of lines that replace the found lines, which are as many as
// the quoted lines.
func (q quotation) placing(found []string, unit string) placing {
	p := placing{base: indentation(found), from: q.unit, to: unit}
	if len(found) != len(q.lines) {
		return p
	}
	p.as, p.quoted = map[string][]depth{}, map[string][]int{}
	for i, l := range q.lines {
		in, text := indentOf(l), strings.TrimSpace(l)
		if text == "" {
			continue
		}
		p.quoted[text] = append(p.quoted[text], i)
		if n := len(p.as[in]); n == 0 || p.as[in][n-1].indent != indentOf(found[i]) {
			p.as[in] = append(p.as[in], depth{i, indentOf(found[i])})
		}
	}
	return p
}

// at returns the file's indentation for the quoted indentation in, near the quoted line i:
// one quoted indentation may stand for two, as in a Makefile.
func (p placing) at(in string, i int) string {
	depths := p.as[in]
	best := depths[0].indent
	for _, d := range depths {
		if d.from <= i {
			best = d.indent
		}
	}
	return best
}

// next returns the index of the next quoted line, from i on, that equals line, or else i.
func (p placing) next(line string, i int) (at int, same bool) {
	for _, j := range p.quoted[strings.TrimSpace(line)] {
		if j >= i {
			return j, true
		}
	}
	return i, false
}

// unit returns one level of indentation in lines: a tab, or as many spaces as the smallest
// step between two depths, except a step of one. It is "" if no line is indented.
func unit(lines []string) string {
	tabs, spaces, step := 0, 0, 0
	depths := map[int]bool{0: true}
	for _, l := range lines {
		in := indentOf(l)
		switch {
		case in == "" || strings.TrimSpace(l) == "":
		case in[0] == '\t':
			tabs++
		case len(in) > 1:
			spaces++
			depths[len(in)] = true
		}
	}
	if tabs == 0 && spaces == 0 {
		return ""
	}
	if tabs >= spaces {
		return "\t"
	}
	for d := 1; step == 0; d++ {
		for depth := range depths {
			if d > 1 && depths[depth+d] {
				step = d
			}
		}
	}
	return strings.Repeat(" ", step)
}

// level converts the indentation in, which is deeper than a known one, to the file's unit.
func (p placing) level(in string) string {
	if p.to == "" || in == "" {
		return in
	}
	width := len(p.from)
	if p.from == "" || p.from == "\t" {
		if width = 4; p.to != "\t" {
			width = len(p.to)
		}
	}
	tabs := strings.Count(in, "\t")
	if tabs == len(in) && p.to == "\t" {
		return in
	}
	columns := tabs*width + len(in) - tabs
	return strings.Repeat(p.to, columns/width) + strings.Repeat(" ", columns%width)
}

// indent indents the lines of text by p. A line further left than the first line and all
// quoted lines is aligned with the first. Blank lines become empty.
func (p placing) indent(text string) string {
	lines := strings.Split(text, "\n")
	first := indentation(lines)
	line := 0                     // the index of the quoted line that it replaces
	placed := map[string]string{} // new indentations of placed lines, by the old ones
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			lines[i] = ""
			continue
		}
		in := indentOf(l)
		at, same := p.next(l, line)
		known, place, ok := first, p.base, strings.HasPrefix(in, first)
		for quoted := range p.as { // find the longest one
			if strings.HasPrefix(in, quoted) && (!ok || len(quoted) >= len(known)) {
				known, place, ok = quoted, p.at(quoted, at), true
			}
		}
		if line = at; same {
			line++
		}
		rest := strings.TrimLeftFunc(l, unicode.IsSpace)
		if !ok {
			lines[i] = p.base + rest
			continue
		}
		deeper := indentOf(l[len(known):])
		if above, ok := placed[known]; ok && deeper != "" {
			place = above
		}
		placed[known] = place
		lines[i] = place + p.level(deeper) + l[len(known)+len(deeper):]
	}
	return strings.Join(lines, "\n")
}
