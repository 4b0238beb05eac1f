package input

import (
	"slices"
	"strconv"
	"strings"

	lazy "gemline/engine/text"
)

var (
	ticks = lazy.Pattern("`+[^`]+`+")
	fence = lazy.Pattern("^[ \t>]*(`{3,}|~{3,})")
	hunk  = lazy.Pattern(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
	head  = lazy.Pattern(`^(diff --git |diff -|--- |\+\+\+ |Index: |@@@* )`)
)

// quoted returns the code fences and diffs in a prompt, in order. A fence without an end extends to
// the end of the prompt.
func quoted(prompt string) (spans []span) {
	at, open := 0, ""
	old, new := 0, 0 // remaining lines of a hunk
	for line := range strings.Lines(prompt) {
		inside := true
		m := fence().FindStringSubmatch(line)
		switch {
		case open != "":
			if m != nil && strings.HasPrefix(m[1], open) && strings.Trim(line, "`~> \t\r\n") == "" {
				open = ""
			}
		case old > 0 || new > 0:
			old, new, inside = counted(line, old, new)
		case m != nil:
			open = m[1]
		default:
			h := hunk().FindStringSubmatch(line)
			if inside = h != nil || head().MatchString(line); h != nil {
				old, new = lines(h[1]), lines(h[2])
			}
		}
		if inside {
			spans = append(spans, span{start: at, end: at + len(line)})
		}
		at += len(line)
	}
	return spans
}

// counted returns the remaining lines of a hunk after line. It returns false if line does not
// belong to the hunk.
func counted(line string, old, new int) (int, int, bool) {
	switch line[0] {
	case '-':
		return old - 1, new, true
	case '+':
		return old, new - 1, true
	case '\\':
		return old, new, true
	case ' ', '\n', '\r':
		return old - 1, new - 1, true
	}
	return 0, 0, false
}

// lines returns the number of lines in a hunk's header, one if the header has none.
func lines(count string) int {
	if count == "" {
		return 1
	}
	n, _ := strconv.Atoi(count)
	return n
}

// literal returns the parts of a prompt in which no commands stand: pasted text, code and diffs.
func literal(prompt string, pasted func() []string) (spans []span) {
	for _, at := range ticks().FindAllStringIndex(prompt, -1) {
		spans = append(spans, span{start: at[0], end: at[1]})
	}
	return slices.Concat(spans, quoted(prompt), inserted(prompt, pasted))
}

// inserted returns the places of pasted text in a prompt.
func inserted(prompt string, pasted func() []string) (spans []span) {
	if pasted == nil {
		return nil
	}
	for _, text := range pasted() {
		text = strings.TrimSpace(text) // the ends of the prompt are also trimmed
		for at := 0; text != ""; at += len(text) {
			next := strings.Index(prompt[at:], text)
			if next < 0 {
				break
			}
			at += next
			spans = append(spans, span{start: at, end: at + len(text)})
		}
	}
	return spans
}

// inside reports whether a span contains the character at an index.
func inside(spans []span, at int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.start <= at && at < s.end })
}
