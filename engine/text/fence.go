package text

import "strings"

// Fenced returns s as a block of code in Markdown, without its last line feed and between fences
// that s does not contain.
func Fenced(s, language string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence
}
