package output

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape returns s with escapes for all characters that a reader could not recognize: those that a
// [Writer] escapes, and unusual spaces, soft hyphens and carriage returns. Newlines and tabs stay.
func Escape(s string) string { return escape(s, false, false) }

// EscapePartial is [Escape] for an incomplete text: characters that depend on the next character
// stay at its end.
func EscapePartial(s string) string { return escape(s, false, true) }

// EscapeLine is [Escape] for a text that must stay on one line: it also escapes newlines and tabs.
func EscapeLine(s string) string { return escape(s, true, false) }

// Visible is [Escape] for text that other programs read as well. It leaves line ends, and
// characters of some scripts and of pictures: joiners, soft hyphens, spaces of every width and
// variation selectors.
func Visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == softHyphen || unseen(r) }) < 0 {
		return s
	}
	var b strings.Builder
	before := rune(0)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		next, _ := utf8.DecodeRuneInString(s)
		switch {
		case unseen(r), r == softHyphen && !placed(before, r, next):
			b.WriteString(escaped(r))
			before = 0
			continue
		case r != joiner && r != nonJoiner:
			before = r
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unseen(r rune) bool {
	return r >= 0x7f && r != nonJoiner && r != joiner && r != softHyphen && hidden(r)
}

func escape(s string, line, open bool) string {
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		known := r
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			known = 0
		case (r == '\n' || r == '\t') && !line:
			b.WriteRune(r)
		case (hidden(r) || selector(r)) && !(r != softHyphen && placedIn(s[i+n:], before, r, open)),
			r != ' ' && unicode.Is(unicode.Zs, r):
			b.WriteString(escaped(r))
			known = 0
		default:
			b.WriteString(s[i : i+n])
		}
		before = known
		i += n
	}
	return b.String()
}

// placedIn is [placed] with the text after r. If the text is open, anything may follow it.
func placedIn(rest string, before, r rune, open bool) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case next != utf8.RuneError:
		return placed(before, r, next)
	case rest != "": // an invalid byte
	case open: // a joiner may be followed by a matching character
		return placed(before, r, before) || placed(before, r, keycap) || placed(before, r, '\u2642')
	}
	return placed(before, r, endOfText)
}

// escaped returns the visible form of r.
func escaped(r rune) string {
	if r < 0x80 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// JSON returns b, the text of a JSON value, with escapes for all characters that a reader could not
// recognize. Only its strings can contain them.
func JSON(b []byte) []byte { return escapeJSON(b, unshown) }

// VisibleJSON is [JSON] for text that other programs read: it leaves the characters that [Visible]
// leaves.
func VisibleJSON(b []byte) []byte { return escapeJSON(b, unseen) }

func escapeJSON(b []byte, escapes func(rune) bool) []byte {
	first := slices.IndexFunc(b, func(c byte) bool { return c >= 0x7f })
	if first < 0 || bytes.IndexFunc(b[first:], escapes) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+32)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case !escapes(r):
			out = append(out, b[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

// unshown is hidden for JSON text: line ends between values stay.
func unshown(r rune) bool { return r >= 0x7f && hidden(r) }

// hidden reports whether r must not reach a terminal: controls, format characters, and invisible
// characters.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r == 0x7f:
		return true
	case r < 0x80:
		return false
	case r < 0xa0:
		return true
	case r < 0xad:
		return false
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2028, 0x2029, 0x3164, 0xffa0:
		return true
	}
	switch {
	case r >= 0x180b && r <= 0x180f, r >= 0xe0000 && r <= 0xe0fff, r >= 0x2060 && r <= 0x206f, r >= 0xfff0 && r <= 0xfffb:
		return true
	case r >= 0x0600 && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x0890, r == 0x0891, r == 0x08e2,
		r == 0x110bd, r == 0x110cd, r >= 0x13430 && r <= 0x1343f: // visible format characters
		return false
	}
	return unicode.Is(unicode.Cf, r)
}

// selector reports whether r selects the form of the character before it.
func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }
