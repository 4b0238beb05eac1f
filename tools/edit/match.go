package edit

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSteps = 1 << 26 // bytes that the regex strategy reads
	maxLines = 1 << 20 // lines of a text that is searched by lines
)

// exact finds old byte for byte.
func exact(text, old, with string) iter.Seq[span] {
	in := newInsertion(with, false, "")
	return func(yield func(span) bool) {
		for at := 0; ; {
			i := strings.Index(text[at:], old)
			if i < 0 {
				return
			}
			at += i
			if !yield(span{start: at, end: at + len(old), how: in}) {
				return
			}
			at += len(old)
		}
	}
}

// A quotation is the lines to which whole lines are compared.
type quotation struct {
	lines []string // the quoted lines, without endings
	unit  string   // one indentation level of the quotation and its replacement

	inner, final *insertion // replacements for ended lines, and for an unended last line
}

// quote returns the lines of old. A final newline ends the last line and does not begin
// another; then the same applies to with.
func quote(old, with string) quotation {
	end := "\n"
	if with == "" {
		end = ""
	}
	if s, ok := strings.CutSuffix(old, "\n"); ok {
		old, with = s, strings.TrimSuffix(with, "\n")
	}
	return quotation{
		lines: strings.Split(old, "\n"),
		unit:  unit(strings.Split(old+"\n"+with, "\n")),
		inner: newInsertion(with, true, end),
		final: newInsertion(with, true, ""),
	}
}

// blank reports whether only space was quoted. Blank lines occur everywhere, so only an
// exact match counts.
func (q quotation) blank() bool {
	return !slices.ContainsFunc(q.lines, func(l string) bool { return strings.TrimSpace(l) != "" })
}

// over returns the span that replaces lines, which begin at the offset start. unit is the
// text's indentation unit.
func (q quotation) over(start int, lines []string, unit string) span {
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	how := q.final
	if strings.HasSuffix(lines[len(lines)-1], "\n") {
		how = q.inner
	}
	return span{start, start + size, how, q.placing(lines, unit)}
}

// flexible finds whole lines that equal the lines of old except for space at their beginning and
// end.
func flexible(text, old, with string) iter.Seq[span] {
	q := quote(old, with)
	if q.blank() || strings.Count(text, "\n") > maxLines {
		return none
	}
	lines := split(text)
	at, unit := offsets(lines), unit(lines)
	in, wanted := trimmedText(lines), trimmedText(q.lines)
	return func(yield func(span) bool) {
		for line, rest := 0, in; ; {
			i := strings.Index(rest, wanted)
			if i < 0 {
				return
			}
			line += strings.Count(rest[:i], "\n")
			if !yield(q.over(at[line], lines[line:line+len(q.lines)], unit)) {
				return
			}
			line += len(q.lines)
			rest = rest[i+len(wanted)-1:] // the line end is the beginning of the next line, too
		}
	}
}

// trimmedText returns lines without the space around them, each between two line ends.
func trimmedText(lines []string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, l := range lines {
		b.WriteString(strings.TrimSpace(l) + "\n")
	}
	return b.String()
}

func none(func(span) bool) {}

// offsets returns where each of lines begins in the text they make up.
func offsets(lines []string) []int {
	at := make([]int, len(lines))
	sum := 0
	for i, l := range lines {
		at[i] = sum
		sum += len(l)
	}
	return at
}

// regex finds the words and signs of old, in lines that begin with the first,
// whatever space stands between them. It is what the expression
//
//	(?m)^([ \t]*)first\s*second\s*third
//
// would find. Since no token begins with space, the match never backtracks; so it is coded
// by hand, in bounded time.
func regex(text, old, with string) iter.Seq[span] {
	words := tokens(old)
	if len(words) == 0 {
		return none
	}
	whole := strings.HasSuffix(old, "\n")
	from, to := unit(strings.Split(old+"\n"+with, "\n")), unit(split(text))
	as, bare := newInsertion(with, true, ""), newInsertion(with, true, "")
	if whole { // at the end of a text that does not end its last line
		bare = newInsertion(strings.TrimSuffix(with, "\n"), true, "")
	}
	var found []span
	steps := 0
	for at := 0; at < len(text) && steps <= maxSteps; {
		end, ok := follow(text, at, words)
		steps += end - at + 1
		if ok {
			sp := span{start: at, end: end, how: bare, place: placing{base: indentOf(text[at:]), from: from, to: to}}
			if end = skip(text, end, blankSpace); whole && end < len(text) && text[end] == '\n' {
				sp.end, sp.how = end+1, as
			}
			found = append(found, sp)
			at = sp.end
			if whole && text[at-1] == '\n' {
				continue // at the beginning of a line already
			}
		}
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	if steps > maxSteps {
		return none
	}
	return slices.Values(found)
}

// follow matches words, with any space between them, in text from at on. It returns the end
// of the match, and whether all words matched.
func follow(text string, at int, words []string) (end int, ok bool) {
	at = skip(text, at, blankSpace)
	for i, w := range words {
		if i > 0 {
			at = skip(text, at, isSpace)
		}
		if !strings.HasPrefix(text[at:], w) {
			return at, false
		}
		at += len(w)
	}
	return at, true
}

func skip(text string, at int, space func(rune) bool) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !space(r) {
			break
		}
		at += n
	}
	return at
}

func blankSpace(r rune) bool { return r == ' ' || r == '\t' }

// isSpace is unicode.IsSpace, with the byte order mark.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// tokens splits text at space and on both sides of each bracket, colon and comparison sign.
func tokens(text string) []string {
	var all []string
	for _, field := range strings.FieldsFunc(text, isSpace) {
		for len(field) > 0 {
			n := strings.IndexAny(field, "():[]{}><=")
			switch {
			case n < 0:
				n = len(field)
			case n == 0:
				n = 1
			}
			all = append(all, field[:n])
			field = field[n:]
		}
	}
	return all
}

// indentation returns the space before the first of lines that is not blank.
func indentation(lines []string) string {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return indentOf(l)
		}
	}
	return ""
}

func indentOf(line string) string { return line[:skip(line, 0, blankSpace)] }
