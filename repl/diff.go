package repl

import (
	"strings"

	"gemline/repl/output"
	"gemline/repl/question"
)

// A diff colours the lines of a text that may hold a diff. It follows the line counts of a hunk's
// header, so that a list or a table is not taken for a diff.
type diff struct{ old, new int } // remaining lines of the hunk

// style returns the style of the next line.
func (d *diff) style(l string) output.Style {
	if d.old > 0 || d.new > 0 {
		switch {
		case strings.HasPrefix(l, "+"):
			d.new--
			return output.Good
		case strings.HasPrefix(l, "-"):
			d.old--
			return output.Bad
		case l == "", l[0] == ' ', l[0] == '\r':
			d.old--
			d.new--
			return output.Normal
		case l[0] == '\\':
			return output.Normal
		}
		*d = diff{}
	}
	n, _, head := question.ParseHunk(l)
	switch {
	case head:
		d.old, d.new = n[1], n[3]
		return output.Code
	case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "diff --git "):
		return output.Strong
	}
	return output.Normal
}

// styleOf returns the style of a line of a diff.
func styleOf(l string) output.Style {
	switch {
	case strings.HasPrefix(l, "+"):
		return output.Good
	case strings.HasPrefix(l, "-"):
		return output.Bad
	case strings.HasPrefix(l, "@@"):
		return output.Code
	}
	return output.Normal
}
