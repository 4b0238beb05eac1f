package repl

import (
	"strings"

	"gemline/repl/output"
	"gemline/repl/question"
)

// A diff colours the lines of a text that may hold a diff. What a hunk's header
// counts is the hunk, so that no list and no table is taken for one.
type diff struct{ old, new int } // lines of the hunk that are still to come

// style returns how the next line looks.
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

// styleOf returns how a line looks that is known to be one of a diff.
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
