package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Compact returns a value as JSON on one line.
func Compact(v any) string {
	b, err := JSON(v, "")
	if err != nil {
		return err.Error()
	}
	return Printable(string(b))
}

// Printable escapes the unprintable characters of a JSON text, such as controls, as JSON does.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// PrintableLine is [Printable] for text that must stay on one line, such as a path, which may
// contain a line end.
func PrintableLine(s string) string { return Printable(strings.ReplaceAll(s, "\n", `\n`)) }

func unseen(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// Untrusted marks a text as data from outside, which instructs nobody. Marks inside the text
// are made harmless.
func Untrusted(s string) string {
	const name = "/untrusted_context"
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.WriteString("<untrusted_context>\n")
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
	}
	b.WriteString(s)
	b.WriteString("\n</untrusted_context>")
	return b.String()
}
