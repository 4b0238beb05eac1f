package line

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// typedText returns text of a terminal as it was meant. What keys send where nobody
// knows such keys, and what a terminal reports, is no part of it; Backspace, Ctrl-W and
// Ctrl-U have done their work.
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
			out = append(out, b[i:i+n]...)
		}
		i += n
	}
	return clean(out)
}

const longestReport = 4096 // bytes; what goes on behind them is text

// typedSequence returns the length of the sequence that b begins with. One that never
// ends is its introducer.
func typedSequence(b []byte) int {
	if n, op := sequence(b[:min(len(b), longestReport)], false); n > 0 && op != newlineMark {
		return n
	}
	if len(b) > 1 && b[1] > ' ' && b[1] < 0x7f {
		return 2
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
