package edit

import (
	"fmt"
	"strings"
)

const (
	diffContext    = 3 // unchanged lines around a change, in a diff
	snippetContext = 5 // and in a snippet
)

// A Stat counts the lines of a difference.
type Stat struct{ Added, Removed int }

// String returns s as "+3 -1".
func (s Stat) String() string { return fmt.Sprintf("+%d -%d", s.Added, s.Removed) }

// Diff returns the whole difference between two texts in unified format, under the given names.
// It is empty if the texts are equal. The carriage return of a CRLF ending is left out, unless
// lines changed just by how they end. A hunk is headed by the function it is in, as git's are.
func Diff(oldName, newName, old, text string) (string, Stat) {
	if old == text {
		return "", Stat{}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	stat := hunks(&out, old, text, false)
	return out.String(), stat
}

// hunks writes the differences between two texts; if exact, with every byte of the lines.
func hunks(out *strings.Builder, old, text string, exact bool) (stat Stat) {
	start, a, b, _ := window(old, text)
	changes := compare(a, b)
	var h headings
	if !exact {
		h.rest = old
	}
	for len(changes) > 0 {
		n := 1 // changes with overlapping context
		for n < len(changes) && changes[n].a0-changes[n-1].a1 <= 2*diffContext {
			n++
		}
		hunk(out, start, a, b, changes[:n], h.above(start+max(0, changes[0].a0-diffContext)), exact)
		for _, c := range changes[:n] {
			stat.Removed += c.a1 - c.a0
			stat.Added += c.b1 - c.b0
		}
		changes = changes[n:]
	}
	return stat
}

// window returns the differing lines of both texts with context, the number of lines before
// them, and whether lines follow. So a long text with a small change need not be split.
func window(old, text string) (before int, a, b []string, behind bool) {
	start, most := 0, min(len(old), len(text))
	for start < most && old[start] == text[start] {
		start++
	}
	start = strings.LastIndexByte(old[:start], '\n') + 1
	end := 0 // offset from the end at which a line begins in both texts
	for end < most-start && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	down := func() {
		tail := old[len(old)-end:]
		if i := strings.IndexByte(tail, '\n'); i >= 0 {
			end -= i + 1
		} else {
			end = 0
		}
	}
	down()
	for range max(diffContext, snippetContext) {
		if start > 0 {
			start = strings.LastIndexByte(old[:start-1], '\n') + 1
		}
		down()
	}
	return strings.Count(old[:start], "\n"), split(old[start : len(old)-end]), split(text[start : len(text)-end]), end > 0
}

// headings finds the heading of a hunk, as git does: the last line before it that begins
// with a letter. In most languages, such a line opens a function.
type headings struct {
	rest string // the remaining text
	line int    // number of lines read
	last string
}

// above returns the heading of the first n lines. n must not decrease between calls.
func (h *headings) above(n int) string {
	const longest = 80 // bytes
	for ; h.line < n && h.rest != ""; h.line++ {
		l := h.rest
		if i := strings.IndexByte(h.rest, '\n'); i >= 0 {
			l, h.rest = h.rest[:i], h.rest[i+1:]
		} else {
			h.rest = ""
		}
		if c := l[:min(1, len(l))]; c != "" && (c == "_" || c == "$" || c[0]|0x20 >= 'a' && c[0]|0x20 <= 'z') {
			h.last = l
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(h.last[:min(longest, len(h.last))], ""))
}

// hunk writes neighbouring changes and the lines around them, below a heading.
// a and b are preceded by start lines.
func hunk(out *strings.Builder, start int, a, b []string, changes []change, heading string, exact bool) {
	first, last := changes[0], changes[len(changes)-1]
	lead := min(diffContext, first.a0)
	tail := min(diffContext, len(a)-last.a1)
	if heading != "" {
		heading = " " + heading
	}
	fmt.Fprintf(out, "@@ -%s +%s @@%s\n",
		extent(start+first.a0-lead, start+last.a1+tail), extent(start+first.b0-lead, start+last.b1+tail), heading)
	at := first.a0 - lead
	for _, c := range changes {
		writeLines(out, ' ', a[at:c.a0], exact)
		mark := exact || carriage(a[c.a0:c.a1]) != carriage(b[c.b0:c.b1]) && c.a0 < c.a1 && c.b0 < c.b1
		writeLines(out, '-', a[c.a0:c.a1], mark)
		writeLines(out, '+', b[c.b0:c.b1], mark)
		at = c.a1
	}
	writeLines(out, ' ', a[at:last.a1+tail], exact)
}

// extent returns the lines from start to end, counted from 0, in the notation of a hunk.
func extent(start, end int) string {
	switch n := end - start; n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

// carriage counts the lines that end in CRLF.
func carriage(lines []string) (n int) {
	for _, l := range lines {
		if strings.HasSuffix(l, "\r\n") {
			n++
		}
	}
	return n
}

func writeLines(out *strings.Builder, sign byte, lines []string, carriage bool) {
	for _, l := range lines {
		text, end := cut(l)
		out.WriteByte(sign)
		out.WriteString(text)
		if carriage {
			out.WriteString(strings.TrimSuffix(end, "\n"))
		}
		out.WriteByte('\n')
		if end == "" {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// Snippet returns the parts of text that differ from old, with five lines around each and a
// line "..." for each omitted part. All of text is returned if old is empty or the same.
// Lines end in LF.
func Snippet(old, text string) string {
	text = normal(text)
	if old == "" {
		return text
	}
	if old = normal(old); old == text {
		return text
	}
	before, a, b, behind := window(old, text)
	changes := compare(a, b)
	var out strings.Builder
	shown := -before
	for i := 0; i < len(changes); i++ {
		start := max(0, changes[i].b0-snippetContext)
		end := min(len(b), changes[i].b1+snippetContext)
		for i+1 < len(changes) && changes[i+1].b0-snippetContext <= end {
			i++
			end = min(len(b), changes[i].b1+snippetContext)
		}
		if start > shown {
			out.WriteString("...\n")
		}
		for _, l := range b[start:end] {
			out.WriteString(l)
		}
		shown = end
	}
	if shown < len(b) || behind {
		out.WriteString("...")
	}
	return strings.TrimSuffix(out.String(), "\n")
}
