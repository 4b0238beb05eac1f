package edit

import (
	"cmp"
	"slices"
	"strings"
)

// normal returns text with LF at the end of all its lines.
func normal(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// A census counts the lines of a text by their ending.
type census struct{ crlf, lf int }

func countEndings(text string) census {
	crlf := strings.Count(text, "\r\n")
	return census{crlf: crlf, lf: strings.Count(text, "\n") - crlf}
}

func (e census) mixed() bool { return e.crlf > 0 && e.lf > 0 }

// majority returns the most frequent line ending.
func (e census) majority() string {
	if e.crlf > e.lf {
		return "\r\n"
	}
	return "\n"
}

// KeepEndings returns text, which replaces old as a whole, with the line endings of old.
// Unchanged lines keep their ending; other lines end as the lines that they replace, or as
// most lines. If old has no line ending at all, text is returned as it is.
func KeepEndings(old, text string) string {
	e := countEndings(old)
	switch {
	case e.crlf+e.lf == 0:
		return text
	case e.mixed():
		return inherit(old, normal(text), e.majority())
	case e.crlf > 0:
		return strings.ReplaceAll(normal(text), "\n", "\r\n")
	}
	return normal(text)
}

// KeepMarked returns text, which replaces old as a whole, but keeps the lines of old that
// mark turns into the same line.
func KeepMarked(old, text string, mark func(string) string) string {
	a, b := split(old), split(text)
	marked := make([]string, len(a))
	for i, line := range a {
		marked[i] = mark(line)
	}
	i, j := 0, 0
	for _, c := range append(compare(marked, b), change{len(a), len(a), len(b), len(b)}) {
		for ; j < c.b0; i, j = i+1, j+1 {
			b[j] = a[i]
		}
		if c.a1-c.a0 == c.b1-c.b0 { // line by line
			for k := range c.a1 - c.a0 {
				b[c.b0+k] = keepKinds(a[c.a0+k], marked[c.a0+k], b[c.b0+k])
			}
		}
		i, j = c.a1, c.b1
	}
	return strings.Join(b, "")
}

// inherit gives each line of text, which ends in LF, the ending of the line of old that it
// replaces, or else fallback.
func inherit(old, text, fallback string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	a, b := split(old), split(text)
	bare := make([]string, len(a))
	ends := make([]string, len(a))
	for i, line := range a {
		bare[i], ends[i] = cut(line)
	}
	for i, line := range b {
		b[i] = strings.TrimSuffix(line, "\n")
	}
	final := strings.HasSuffix(text, "\n")
	var out strings.Builder
	out.Grow(len(text) + len(b))
	write := func(j int, end string) {
		out.WriteString(b[j])
		if j == len(b)-1 && !final {
			return
		}
		end = cmp.Or(end, fallback)
		out.WriteString(end)
	}
	i, j := 0, 0
	for _, c := range append(compare(bare, b), change{len(a), len(a), len(b), len(b)}) {
		for ; j < c.b0; i, j = i+1, j+1 {
			write(j, ends[i])
		}
		for last := ""; j < c.b1; j++ {
			if i < c.a1 {
				last = ends[i]
				i++
			}
			write(j, last)
		}
		i = c.a1
	}
	return out.String()
}

// split returns the lines of text, each with its ending.
func split(text string) []string {
	return slices.AppendSeq(make([]string, 0, strings.Count(text, "\n")+1), strings.Lines(text))
}

// cut splits a line from its ending.
func cut(line string) (text, end string) {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return line[:len(line)-2], "\r\n"
	case strings.HasSuffix(line, "\n"):
		return line[:len(line)-1], "\n"
	}
	return line, ""
}

// plainEndings returns content with LF endings.
func plainEndings(content string) plainText {
	p := plainText{text: normal(content)}
	for at := 0; ; {
		i := strings.Index(content[at:], "\r\n")
		if i < 0 {
			return p
		}
		at += i + len("\r\n")
		shift := len(p.at) + 1
		p.at, p.shift = append(p.at, at-shift), append(p.shift, shift)
	}
}
