package output

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A UTF8 reads text in pieces and returns it as whole, valid characters without escape sequences,
// regardless of the pieces. It writes invalid bytes as \xNN.
type UTF8 struct {
	Raw     bool // escape sequences stay
	held    string
	invalid bool // bytes were escaped since the last call of Invalid
}

const maxSequence = 4096 // bytes; a longer text is no sequence

// Feed returns the text up to and including s, as far as it is complete.
func (c *UTF8) Feed(s string) string { return c.clean(s, false) }

// Flush returns the pending text.
func (c *UTF8) Flush() string { return c.clean("", true) }

// Invalid reports whether bytes were escaped since its last call.
func (c *UTF8) Invalid() bool {
	was := c.invalid
	c.invalid = false
	return was
}

func (c *UTF8) clean(s string, last bool) string {
	if c.held == "" && utf8.ValidString(s) &&
		(c.Raw || strings.IndexByte(s, 0x1b) < 0 && !strings.ContainsFunc(s, isC1)) {
		return s
	}
	s, c.held = c.held+s, ""
	var b strings.Builder
	for i := 0; i < len(s); {
		rest := s[i:]
		if lead := introducer(rest); lead > 0 && !c.Raw {
			n := sequence(rest, lead)
			switch {
			case n > 0:
				i += n
			case n == 0 && !last:
				c.held = rest
				return b.String()
			default: // no sequence: only its introducer is dropped
				i += lead
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case !last && !utf8.FullRuneInString(rest):
			c.held = rest
			return b.String()
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, rest[0])
			c.invalid = true
		case isC1(r) && !c.Raw:
		default:
			b.WriteString(rest[:n])
		}
		i += n
	}
	return b.String()
}

// isC1 reports whether r is a control character beyond ASCII.
func isC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

// introducer returns the length of the introducer of an escape sequence at the start of s, or 0.
func introducer(s string) int {
	switch {
	case s[0] == 0x1b:
		return 1
	case len(s) > 1 && s[0] == 0xc2 && strings.IndexByte("\x90\x98\x9b\x9d\x9e\x9f", s[1]) >= 0:
		return 2
	}
	return 0
}

// sequence returns the length of the escape sequence at the start of s; 0 if it may continue after
// the end of s; -1 if there is none.
func sequence(s string, lead int) int {
	if len(s) == lead {
		return 0
	}
	kind := s[1]
	if lead == 2 {
		kind -= 0x40 // the one-byte form of ESC and a letter
	}
	switch {
	case kind == '[':
		return control(s, 0x40)
	case strings.IndexByte("]PX^_", kind) >= 0:
		return stringSequence(s)
	case kind >= 0x20 && kind <= 0x2f:
		return control(s, 0x30)
	case kind >= 0x30 && kind <= 0x7e:
		return 2
	}
	return -1
}

// control measures a sequence up to its final character, from first to ~.
func control(s string, first byte) int {
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c >= first && c <= 0x7e:
			return i + 1
		case c < 0x20 || c >= 0x7f || i > 128:
			return -1
		}
	}
	return 0
}

// stringSequence measures a sequence up to its terminator.
func stringSequence(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == '\n' || i > maxSequence:
			return -1
		case s[i] == 0x1b && i+1 < len(s):
			if s[i+1] == '\\' {
				return i + 2
			}
			return -1
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		}
	}
	return 0
}

// All converts a complete text.
func (c *UTF8) All(s string) string {
	s = c.Feed(s)
	return s + c.Flush()
}

// StripSequences returns a complete text without escape sequences, and reports whether bytes of it
// were escaped.
func StripSequences(s string) (text string, invalid bool) {
	var c UTF8
	s = c.All(s)
	return s, c.invalid
}

// Valid is [StripSequences] without the report about bytes.
func Valid(s string) string {
	s, _ = StripSequences(s)
	return s
}

// FirstLine returns the first line of s, safe for the terminal.
func FirstLine(s string) string {
	const most = 500
	s = Valid(s)
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = BlankControls(s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return Visible(strings.TrimSpace(s))
}

// BlankControls returns s on one line, with blanks in place of control characters.
func BlankControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
