package text

import "strings"

// FrontMatter splits a text into what stands between two lines of three hyphens at its
// beginning, whose first line is the second one of the text, and what follows it. Lines
// end in \n then. It reports false, and all of the text, if it does not begin so.
func FrontMatter(source string) (head, body string, ok bool) {
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\ufeff")
	rest, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return "", source, false
	}
	head, body, ok = strings.Cut("\n"+rest+"\n", "\n---\n")
	if !ok {
		return "", source, false
	}
	return strings.TrimPrefix(head, "\n"), strings.TrimSuffix(body, "\n"), true
}
