package text

import "strings"

// Fenced returns s as a block of code in Markdown, between fences that are not in it and
// without the last line feed.
func Fenced(s, language string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence
}
