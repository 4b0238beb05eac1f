package markdown

import (
	"strings"

	"gemline/repl/output"
)

// A page holds text that is formatted and not shown yet.
type page struct {
	view *View // nil if words describe markup
	text []byte
	runs []styleRun

	started bool     // it has a line
	inLine  bool     // the last line is open
	gap     bool     // an empty line comes before the next line
	first   bool     // the next line is the first inside a quote or a list item
	margins []string // of the surrounding lists and quotes
	inset   string   // all margins together
	hang    string   // further indentation of broken lines
	markers string   // of list items without text yet
}

// A styleRun is the style of text up to an end.
type styleRun struct {
	end   int
	style Style
	flow  output.Flow
	hang  string
}

// spans returns the text since the last call.
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

// put appends s unchanged. Code and addresses are one piece, so that they can be copied.
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

// begin moves to the start of a block's text.
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

// end ends the line, if it is open.
func (p *page) end() {
	if p.inLine {
		p.put(Plain, "\n")
	}
}

// say writes a line of gemline's own words.
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

// enter and leave begin and end a list item.
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
	if p.markers != "" { // the item is empty
		p.markers = strings.TrimRight(p.markers, " ")
		p.begin()
		p.end()
	}
	p.outdent()
}
