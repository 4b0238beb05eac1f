package edit

import (
	"cmp"
	"errors"
	"iter"
	"strings"
)

// maxSize is how many bytes a text may grow to by [Replace].
const maxSize = 64 << 20

// ErrTooLarge is returned instead of a text longer than 64 MiB.
var ErrTooLarge = errors.New("the edited text would be larger than 64 MB")

// A Strategy is a way to find a quotation.
type Strategy string

// The strategies, in the order in which they are tried.
const (
	Exact    Strategy = "exact"    // byte for byte
	Flexible Strategy = "flexible" // whole lines, whatever their indentation
	Kinds    Strategy = "kinds"    // by another strategy, with similar quotation marks, dashes and blanks
	Regex    Strategy = "regex"    // the same words and signs, whatever the space between
	Fuzzy    Strategy = "fuzzy"    // whole lines that differ in a few characters
)

// A Result is the outcome of a replacement.
type Result struct {
	Text     string
	Count    int      // how often old was found
	Strategy Strategy // the successful Strategy; empty if none was
	Lines    []Range  // the places of old, in order, neighbours joined
}

// A Range is some lines of a text, counted from 1, the last one included.
type Range struct{ First, Last int }

// Replace replaces old in content by with, at the places that the first successful
// [Strategy] finds. Unless all is true, a text with several places is left unchanged: the
// caller sees this by Count. An empty old is never found. The text neither gains nor loses a
// final newline, except when it becomes empty.
func Replace(content, old, with string, all bool) (Result, error) {
	r := Result{Text: content}
	p, old, with := plainEndings(content), normal(old), normal(with)
	text := p.text
	if old == "" {
		return r, nil
	}
	for _, s := range []struct {
		name Strategy
		find func(text, old, with string) iter.Seq[span]
	}{{Exact, exact}, {Flexible, flexible}, {Kinds, kinds}, {Regex, regex}, {Fuzzy, fuzzy}} {
		spans := s.find(text, old, with)
		size := len(content)
		for sp := range spans {
			r.Count++
			size += sp.how.size(sp.place) - (sp.end - sp.start)
		}
		if r.Count == 0 {
			continue
		}
		r.Strategy, r.Lines = s.name, ranges(text, spans)
		if r.Count > 1 && !all {
			return r, nil
		}
		if size > maxSize {
			return r, ErrTooLarge
		}
		r.Text = finish(content, apply(content, p, spans))
		return r, nil
	}
	return r, nil
}

// A span is a part of a text and its replacement.
type span struct {
	start, end int
	how        *insertion
	place      placing
}

func (s span) text() string { return s.how.text(s.place) }

// An insertion is the replacement at a place. It is built at each place when needed: all
// replacements together may need too much memory.
type insertion struct {
	with     string
	lines    int
	blanks   int    // at the beginnings of lines
	indented bool   // lines adopt the indentation of the place
	end      string // follows the last line
}

func newInsertion(with string, indented bool, end string) *insertion {
	in := &insertion{with: with, lines: 1 + strings.Count(with, "\n"), indented: indented, end: end}
	if indented {
		for line := range strings.Lines(with) {
			in.blanks += len(indentOf(line))
		}
	}
	return in
}

func (in *insertion) text(place placing) string {
	if in.indented {
		return place.indent(in.with) + in.end
	}
	return in.with + in.end
}

// size returns the maximal length of the text.
func (in *insertion) size(place placing) int {
	n := len(in.with) + len(in.end)
	if in.indented {
		deepest := len(place.base)
		for _, depths := range place.as {
			for _, d := range depths {
				deepest = max(deepest, len(d.indent))
			}
		}
		n += in.lines*deepest + in.blanks*max(1, len(place.to))
	}
	return n
}

// ranges returns the lines of text that spans touch.
func ranges(text string, spans iter.Seq[span]) []Range {
	var all []Range
	line, at := 1, 0 // the line in which offset at lies
	for sp := range spans {
		line += strings.Count(text[at:sp.start], "\n")
		first := line
		body := text[sp.start:sp.end]
		line += strings.Count(body, "\n")
		at = sp.end
		last := line
		if strings.HasSuffix(body, "\n") {
			last--
		}
		if n := len(all); n > 0 && first <= all[n-1].Last+1 {
			all[n-1].Last = max(last, all[n-1].Last)
		} else {
			all = append(all, Range{first, last})
		}
	}
	return all
}

// apply replaces spans of p, which is content with LF endings.
func apply(content string, p plainText, spans iter.Seq[span]) string {
	var b strings.Builder
	at, next, usual := 0, 0, countEndings(content).majority()
	for sp := range spans {
		start, end := p.offset(sp.start), p.offset(sp.end)
		if next <= end { // the next line ending
			next = len(content)
			if i := strings.IndexByte(content[end:], '\n'); i >= 0 {
				next = end + i + 1
			}
		}
		body, fallback := content[start:end], usual
		if !strings.Contains(body, "\n") { // the edited line determines the ending
			_, own := cut(content[end:next])
			fallback = cmp.Or(own, usual)
		}
		b.WriteString(content[at:start])
		b.WriteString(inherit(body, sp.text(), fallback))
		at = end
	}
	b.WriteString(content[at:])
	return b.String()
}

// finish returns text with a final newline if and only if content has one.
func finish(content, text string) string {
	if text == "" {
		return text
	}
	if !strings.HasSuffix(content, "\n") {
		for strings.HasSuffix(text, "\n") {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
		return text
	}
	if strings.HasSuffix(text, "\n") {
		return text
	}
	if strings.HasSuffix(content, "\r\n") {
		return text + "\r\n"
	}
	return text + "\n"
}
