package edit

import (
	"slices"
	"strings"
)

// placeholders returns the lines by which text says that something was left
// out of it, such as "// rest of code ...", in a uniform spelling.
func placeholders(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if p := placeholder(line); p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// HasPlaceholder reports whether text leaves something out that old, which it
// replaces, does not leave out in the same words.
func HasPlaceholder(old, text string) bool {
	known := placeholders(old)
	return slices.ContainsFunc(placeholders(text), func(p string) bool { return !slices.Contains(known, p) })
}

// omissions are the words that stand before the dots.
var omissions = []string{"rest of", "rest of method", "rest of methods", "rest of code",
	"unchanged code", "unchanged method", "unchanged methods"}

// placeholder returns the uniform spelling of line if it is one, else "".
func placeholder(line string) string {
	if len(line) > 1000 {
		return ""
	}
	line = strings.TrimSpace(line)
	line = strings.TrimSpace(strings.TrimPrefix(line, "//"))
	if inner, ok := strings.CutPrefix(line, "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			line = strings.TrimSpace(inner)
		}
	}
	before, after, ok := strings.Cut(line, "...")
	if !ok || strings.Trim(after, ". \t") != "" {
		return ""
	}
	words := strings.ToLower(strings.Join(strings.Fields(before), " "))
	if !slices.Contains(omissions, words) {
		return ""
	}
	return words + " ..."
}
