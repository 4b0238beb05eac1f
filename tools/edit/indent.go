package edit

import (
	"strings"
	"unicode"
)

// A placing says how lines that take the place of others are indented.
type placing struct {
	base     string            // what the first line begins with
	as       map[string]string // by the indentation of a quoted line: that of the line that was found
	from, to string            // one level, as it was quoted and in the file; "" is not known
}

// placing returns how lines that take the place of found ones are indented, where the
// quoted lines are as many.
func (q quotation) placing(found []string, unit string) placing {
	p := placing{base: indentation(found), as: map[string]string{}, from: q.unit, to: unit}
	if len(found) != len(q.lines) {
		return p
	}
	for i, l := range q.lines {
		if _, known := p.as[indentOf(l)]; !known && strings.TrimSpace(l) != "" {
			p.as[indentOf(l)] = indentOf(found[i])
		}
	}
	return p
}

// unit returns what one level of indentation is in lines: a tab, or as many spaces as the
// smallest step between two depths, but one. It is "" if nothing is indented.
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

// level returns the indentation in, which is beyond a known one, in the file's own unit.
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

// indent moves the lines of text to where p says. A line that was further left than the
// first one and than all that was quoted is put below the first. Blank lines become empty.
func (p placing) indent(text string) string {
	lines := strings.Split(text, "\n")
	first := indentation(lines)
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			lines[i] = ""
			continue
		}
		in := indentOf(l)
		known, at := "", ""
		if strings.HasPrefix(in, first) {
			known, at = first, p.base
		}
		for quoted, found := range p.as { // one of them is the longest
			if strings.HasPrefix(in, quoted) && (len(quoted) >= len(known)) {
				known, at = quoted, found
			}
		}
		if rest, ok := strings.CutPrefix(l, known); ok && (at != "" || known != "" || strings.HasPrefix(in, first)) {
			deeper := indentOf(rest)
			lines[i] = at + p.level(deeper) + rest[len(deeper):]
		} else {
			lines[i] = p.base + strings.TrimLeftFunc(l, unicode.IsSpace)
		}
	}
	return strings.Join(lines, "\n")
}
