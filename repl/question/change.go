package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/output"
)

// A Change is a parsed diff of one file.
type Change struct {
	hunks          []hunk
	added, removed int
}

// A hunk is a group of changed lines with the unchanged lines around them.
type hunk struct {
	head  string // its header line
	where string // its function, from the header; may be empty
	lines []changedLine
}

// A changedLine is a line of a hunk. The number of a removed line counts in the old text, the
// number of any other line in the new text.
type changedLine struct {
	mark   byte // ' ', '+', '-', or '\' for a note about the line before it
	text   string
	number int
}

// hunkHead matches the header line of a hunk.
var hunkHead = text.Pattern(`^@@ -(\d*)(?:,(\d+))? \+(\d*)(?:,(\d+))? @@(?: (.*))?$`)

// ParseChange parses a unified diff of one file. It returns false for any other text.
func ParseChange(diff string) (c Change, ok bool) {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return c, false
	}
	for lines = lines[2:]; len(lines) > 0; {
		n, where, ok := ParseHunk(lines[0])
		if !ok {
			return Change{}, false
		}
		h := hunk{head: lines[0], where: where}
		before, beforeEnd, after, afterEnd := n[0], n[0]+n[1], n[2], n[2]+n[3]
		for lines = lines[1:]; len(lines) > 0; lines = lines[1:] {
			l := lines[0]
			if before >= beforeEnd && after >= afterEnd && !strings.HasPrefix(l, `\`) {
				break
			}
			if l == "" {
				return Change{}, false
			}
			line := changedLine{mark: l[0], text: l[1:], number: after}
			switch l[0] {
			case '-':
				line.number = before
				before++
				c.removed++
			case '+':
				after++
				c.added++
			case ' ':
				before++
				after++
			case '\\':
			default:
				return Change{}, false
			}
			h.lines = append(h.lines, line)
		}
		if before != beforeEnd || after != afterEnd {
			return Change{}, false
		}
		c.hunks = append(c.hunks, h)
	}
	return c, true
}

// ParseHunk parses the header line of a hunk: its start and length before and after the change, and
// its function.
func ParseHunk(l string) (n [4]int, where string, ok bool) {
	m := hunkHead().FindStringSubmatch(strings.TrimSuffix(l, "\r"))
	if m == nil {
		return n, "", false
	}
	for i, digits := range m[1:5] {
		n[i] = 1
		if digits == "" {
			continue
		}
		var err error
		if n[i], err = strconv.Atoi(digits); err != nil {
			return n, "", false
		}
	}
	return n, m[5], true
}

// Count describes the number of added and removed lines.
func (c Change) Count() string { return CountLines(c.added, c.removed) }

// CountLines says how many lines were added and removed, such as "3 lines
// added, 1 removed".
func CountLines(added, removed int) string {
	switch {
	case added == 0 && removed == 0:
		return "no lines changed"
	case removed == 0:
		return text.Count(added, "line") + " added"
	case added == 0:
		return text.Count(removed, "line") + " removed"
	}
	return fmt.Sprintf("%s added, %d removed", text.Count(added, "line"), removed)
}

// definition matches a line that opens a function or a type, with its name. Words before the
// keyword, such as public, do not matter.
var definition = text.Pattern(`^(?:\w+(?:\([\w ]*\))? +){0,4}(func|function|def|fn|sub|proc|class|type|struct|interface|trait|impl|enum|module)\s+(?:\([^()]*\) *)?([A-Za-z_$][\w$]*)`)

// Function names the function or type that contains all of c, such as "function Put", or returns ""
// if that is unknown.
func (c Change) Function() (name string) {
	for i, h := range c.hunks {
		where := h.where
		for _, l := range h.lines {
			if l.mark != ' ' {
				break
			}
			if definition().MatchString(l.text) || l.text != "" && strings.ContainsRune("})", rune(l.text[0])) {
				where = l.text
			}
		}
		m := definition().FindStringSubmatch(where)
		if m == nil {
			return ""
		}
		word := m[1]
		switch word {
		case "func", "def", "fn", "sub", "proc":
			word = "function"
		}
		here := word + " " + m[2]
		if i > 0 && here != name {
			return ""
		}
		name = here
	}
	return name
}

// Unified returns c as a diff, without unchanged lines if brief is set. Then a line gives the place
// of each later change, and from is the place of the first.
func (c Change) Unified(brief bool) (text string, from int) {
	var out []string
	last := 0 // the number of the last shown line
	for _, h := range c.hunks {
		if !brief {
			out = append(out, h.head)
		}
		gap := true
		for _, l := range h.lines {
			if brief && l.mark == ' ' {
				gap = true
				continue
			}
			if brief && gap && l.mark != '\\' {
				if last > 0 {
					out = append(out, fmt.Sprintf("@@ line %d @@", l.number))
				} else {
					from = l.number
				}
				gap = false
			}
			if brief && gap { // a note about a line that is not shown
				continue
			}
			last = l.number
			out = append(out, string(l.mark)+l.text)
		}
	}
	return output.Sanitize(strings.Join(out, "\n")), from
}

// Around returns c with at most n unchanged lines around each change.
func (c Change) Around(n int) Change {
	c.hunks = slices.Clone(c.hunks)
	for i, h := range c.hunks {
		changed := func(l changedLine) bool { return l.mark != ' ' }
		first := slices.IndexFunc(h.lines, changed)
		if first < 0 {
			continue
		}
		last := len(h.lines)
		for !changed(h.lines[last-1]) {
			last--
		}
		c.hunks[i].lines = h.lines[max(0, first-n):min(len(h.lines), last+n)]
	}
	return c
}

// Spoken returns c line by line in words, for users who listen.
func (c Change) Spoken() []string {
	const mostBlank = 2
	var out []string
	for _, h := range c.hunks {
		for i := 0; i < len(h.lines); i++ {
			l := h.lines[i]
			what := map[byte]string{' ': "unchanged", '+': "added", '-': "removed"}[l.mark]
			if what == "" {
				out = append(out, "the line before this ends without a line end")
				continue
			}
			n := 0 // blank lines
			for ; i+n < len(h.lines) && h.lines[i+n].mark == l.mark && strings.TrimSpace(h.lines[i+n].text) == ""; n++ {
			}
			if n > mostBlank {
				out = append(out, fmt.Sprintf("%s: %d to %d: %d blank lines", what, l.number, l.number+n-1, n))
				i += n - 1
				continue
			}
			text := "blank"
			if n == 0 {
				text = output.Sanitize("+" + l.text)[1:]
			}
			out = append(out, fmt.Sprintf("%s: %d: %s", what, l.number, text))
		}
	}
	return out
}

// ChangeOf returns a proposal's change of a file.
func ChangeOf(p engine.Proposal) (Change, bool) {
	if p.Tool.Kind != engine.Edit {
		return Change{}, false
	}
	return ParseChange(p.Intent.Detail)
}
