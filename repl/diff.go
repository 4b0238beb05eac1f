package repl

import (
	"strconv"
	"strings"

	"gemline/repl/output"
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
	switch {
	case d.hunk(l):
		return output.Code
	case strings.HasPrefix(l, "--- "), strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "diff --git "):
		return output.Strong
	}
	return output.Normal
}

// hunk reports whether l is the header of a hunk, and reads it.
func (d *diff) hunk(l string) bool {
	f := strings.Fields(l)
	if len(f) < 4 || f[0] != "@@" || f[1][0] != '-' || f[2][0] != '+' || f[3] != "@@" {
		return false
	}
	d.old, d.new = lineCount(f[1]), lineCount(f[2])
	return true
}

// lineCount returns how many lines a range such as -3,5 has.
func lineCount(r string) int {
	_, s, ok := strings.Cut(r, ",")
	if !ok {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return max(0, n)
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
