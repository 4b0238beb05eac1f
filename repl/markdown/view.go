package markdown

import (
	"strconv"
	"strings"

	"gemline/repl/output"
)

// A View is a screen for users who see: layout and style express the markup, not words.
type View struct {
	Columns func() int       // of the screen; 0 if unknown
	Width   func(string) int // the columns of a text
}

// quoteBar stands before the lines of a quote.
const quoteBar = "| "

// glue puts text that stays with the text after it, such as a list's marker.
func (p *page) glue(s string) { p.add(Plain, output.Tight, "", s) }

// exact puts part of a line that is printed unchanged.
func (p *page) exact(style Style, s string) { p.add(style, output.Exact, "", s) }

// apart begins a line below an empty line, for text that is printed at the margin even inside lists
// and quotes.
func (p *page) apart() {
	if p.markers != "" { // the markers get a separate line
		p.markers = strings.TrimRight(p.markers, " ")
		p.begin()
		p.end()
	} else {
		p.end()
		if p.started && !p.first {
			p.exact(Plain, "\n")
		}
	}
	p.gap, p.first = false, false
}

// indent begins the inside of a list or a quote, and outdent ends it.
func (p *page) indent(s string) {
	p.margins = append(p.margins, s)
	p.inset = strings.Join(p.margins, "")
}

func (p *page) outdent() {
	p.margins = p.margins[:len(p.margins)-1]
	p.inset = strings.Join(p.margins, "")
}

// openQuote and closeQuote begin and end a quote.
func (p *page) openQuote() {
	switch {
	case p.view == nil:
		p.say("quote:")
		p.first = true
		p.indent("")
	case p.markers != "": // the quote is the first block of an item
		p.markers += quoteBar
		p.indent(quoteBar)
	default:
		p.indent(quoteBar)
	}
}

func (p *page) closeQuote() {
	p.outdent()
	if p.view == nil {
		p.say("end of quote")
	} else {
		p.gap = true
	}
}

// heading begins a heading, and returns the style of its text.
func (p *page) heading(level int) Style {
	if p.view == nil {
		p.begin()
		p.put(Spoken, "heading "+strconv.Itoa(level)+": ")
		return Title
	}
	p.gap = true
	p.begin()
	if deep := level - 2; deep > 0 {
		p.glue(strings.Repeat("  ", deep))
	}
	if level == 1 {
		return Headline
	}
	return Title
}

// underlined marks the text above as a heading.
func (p *page) underlined(level int) {
	if p.view == nil {
		p.say("heading " + strconv.Itoa(level) + " above")
		return
	}
	p.begin()
	p.exact(Title, map[int]string{1: "=====", 2: "-----"}[level])
	p.exact(Plain, "\n")
	p.gap = true
}
