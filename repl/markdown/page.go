package markdown

import (
	"strings"
)

// A page is what has been laid out and not been shown yet.
type page struct {
	text []byte
	runs []styled

	started bool   // there is a line
	inLine  bool   // the last one is not at its end
	gap     bool   // an empty line comes before the next
	first   bool   // the next line is the first inside a quote or the like
	depth   int    // of lists
	markers string // of list items whose text has not begun
}

// styled says how text looks up to an end.
type styled struct {
	end   int
	style Style
}

// spans returns what was laid out since the last call.
func (p *page) spans() []Span {
	if len(p.text) == 0 {
		return nil
	}
	all, from := string(p.text), 0
	out := make([]Span, len(p.runs))
	for i, r := range p.runs {
		out[i] = Span{all[from:r.end], r.style}
		from = r.end
	}
	p.text, p.runs = p.text[:0], p.runs[:0]
	return out
}

// put appends s as it is.
func (p *page) put(style Style, s string) {
	if s == "" {
		return
	}
	p.text = append(p.text, s...)
	if n := len(p.runs); n > 0 && p.runs[n-1].style == style {
		p.runs[n-1].end = len(p.text)
	} else {
		p.runs = append(p.runs, styled{len(p.text), style})
	}
	p.started, p.inLine = true, s[len(s)-1] != '\n'
}

// begin brings the page to where a block's text begins.
func (p *page) begin() {
	p.end()
	if p.gap && p.started && !p.first {
		p.put(Plain, "\n")
	}
	p.gap, p.first = false, false
	if p.markers != "" {
		p.put(Plain, p.markers)
		p.markers = ""
		return
	}
	p.put(Plain, p.margin())
}

// margin returns what stands before the lines inside lists.
func (p *page) margin() string { return strings.Repeat("  ", p.depth) }

// end ends the line, if one has begun.
func (p *page) end() {
	if p.inLine {
		p.put(Plain, "\n")
	}
}

// say writes a line of our own words.
func (p *page) say(words string) {
	p.begin()
	p.put(Spoken, words)
	p.end()
}

// write writes text whose lines stay inside the lists.
func (p *page) write(style Style, s string) {
	for {
		line, rest, more := strings.Cut(s, "\n")
		p.put(style, line)
		if !more {
			return
		}
		p.put(Plain, "\n"+p.margin())
		s = rest
	}
}

// verbatim writes a line of code.
func (p *page) verbatim(line string) {
	p.put(Code, strings.TrimSuffix(line, "\n"))
	p.put(Plain, "\n")
}

// enter and leave go into an item of a list and out of it.
func (p *page) enter(marker string) {
	if p.markers == "" {
		p.end()
		p.markers = p.margin()
	}
	p.markers += marker
	p.depth++
}

func (p *page) leave() {
	if p.markers != "" { // nothing is in it
		p.markers = strings.TrimRight(p.markers, " ")
		p.begin()
		p.end()
	}
	p.depth--
}
