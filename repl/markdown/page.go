package markdown

import (
	"strings"

	"gemline/repl/output"
)

// A page is what has been laid out and not been shown yet.
type page struct {
	view *View // nil if markup is put in words
	text []byte
	runs []styleRun

	started bool     // there is a line
	inLine  bool     // the last one is not at its end
	gap     bool     // an empty line comes before the next
	first   bool     // the next line is the first inside a quote or the like
	margins []string // of the lists and quotes around
	inset   string   // all of them
	hang    string   // what a broken line begins with, besides
	markers string   // of list items whose text has not begun
}

// A styleRun says how text looks up to an end.
type styleRun struct {
	end   int
	style Style
	flow  output.Flow
	hang  string
}

// spans returns what was laid out since the last call.
func (p *page) spans() []Span {
	if len(p.text) == 0 {
		return nil
	}
	all, from := string(p.text), 0
	out := make([]Span, len(p.runs))
	for i, r := range p.runs {
		out[i] = Span{Text: all[from:r.end], Style: r.style, Flow: r.flow, Hang: r.hang}
		from = r.end
	}
	p.text, p.runs = p.text[:0], p.runs[:0]
	return out
}

// put appends s as it is. Code and addresses are in one piece, so that they
// can be copied.
func (p *page) put(style Style, s string) {
	switch {
	case p.view == nil:
		p.add(style, output.Loose, "", s)
	case style == Code, style == Address:
		p.add(style, output.Tight, p.inset+p.hang, s)
	default:
		p.add(style, output.Loose, p.inset+p.hang, s)
	}
}

func (p *page) add(style Style, flow output.Flow, hang, s string) {
	if s == "" {
		return
	}
	p.text = append(p.text, s...)
	r := styleRun{len(p.text), style, flow, hang}
	if p.view == nil {
		r.flow = output.Loose
	}
	if n := len(p.runs); n > 0 && p.runs[n-1].style == style && p.runs[n-1].flow == r.flow && p.runs[n-1].hang == hang {
		p.runs[n-1].end = r.end
	} else {
		p.runs = append(p.runs, r)
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
		p.glue(p.markers)
		p.markers = ""
		return
	}
	p.glue(p.inset)
}

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
		p.put(Plain, "\n")
		p.glue(p.inset)
		s = rest
	}
}

// enter and leave go into an item of a list and out of it.
func (p *page) enter(marker string) {
	if p.markers == "" {
		p.end()
		p.markers = p.inset
	}
	p.markers += marker
	if p.view == nil {
		p.indent("  ")
	} else {
		p.indent(strings.Repeat(" ", len(marker)))
	}
}

func (p *page) leave() {
	if p.markers != "" { // nothing is in it
		p.markers = strings.TrimRight(p.markers, " ")
		p.begin()
		p.end()
	}
	p.outdent()
}
