package line

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// typedText returns the text that a user has typed at a terminal. It removes sequences of keys
// without a meaning here and reports of the terminal, and applies Backspace, Ctrl-W and Ctrl-U.
func typedText(b []byte) string {
	var out []byte
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == '\n', r == '\t':
			out = append(out, b[i])
		case r == 0x1b:
			n = typedSequence(b[i:])
		case r == 0x7f, r == '\b':
			out = out[:lineStart(out)+len(lessOne(out[lineStart(out):]))]
		case r == 0x15: // Ctrl-U
			out = out[:lineStart(out)]
		case r == 0x17: // Ctrl-W
			out = out[:lineStart(out)+len(lessWord(string(out[lineStart(out):])))]
		case r == '\r' && i+1 < len(b) && b[i+1] != '\n':
			out = append(out, ' ')
		case r < 0x20, r >= 0x80 && r < 0xa0:
		default:
			out = utf8.AppendRune(out, r)
		}
		i += n
	}
	return clean(out)
}

const longestReport = 4096 // bytes; the rest of a longer sequence is text

// typedSequence returns the length of the escape sequence at the start of b, if a key or a report
// of the terminal is known to send it. Otherwise it returns 1: the user has pressed Esc, which
// cancels in other programs, and then typed text.
func typedSequence(b []byte) int {
	n, _ := sequence(b[:min(len(b), longestReport)], false)
	intro, rest := byte(0), b[min(len(b), 2):]
	if len(b) > 1 {
		intro = b[1]
	}
	switch {
	case intro == '[' && len(rest) > 1 && rest[0] == '[' && rest[1] >= 'A' && rest[1] <= 'E': // F1 to F5 of Linux
		return 4
	case intro == '[' && n > 0:
		final := b[n-1]
		if n == 3 && strings.IndexByte("ABCDEFHIOPQRSZ", final) >= 0 || n == 6 && b[2] == 'M' ||
			n > 3 && (strings.IndexByte("~^@", final) >= 0 || 'a' <= final|0x20 && final|0x20 <= 'z') {
			return n
		}
	case intro == '[' && len(strings.TrimLeft(string(rest), "0123456789;?<")) == 0: // an incomplete sequence
		return 2
	case intro == 'O' && len(rest) > 0 && strings.IndexByte("ABCDFHPQRS", rest[0]) >= 0:
		return 3
	case intro != 0 && strings.IndexByte("]P_^X", intro) >= 0 && n > 0:
		return n
	}
	return 1
}

func lineStart(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

func lessOne(b []byte) []byte {
	_, n := utf8.DecodeLastRune(b)
	return b[:len(b)-n]
}

func lessWord(s string) string {
	return strings.TrimRightFunc(strings.TrimRightFunc(s, unicode.IsSpace),
		func(r rune) bool { return !unicode.IsSpace(r) })
}
