package text

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Quoted returns how long the JSON string is that b begins with, quotes and all, or
// -1 if there is none or it has no end.
func Quoted(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	for at := 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		slash := at
		for b[slash-1] == '\\' { // stops at the opening quote
			slash--
		}
		if at++; (at-1-slash)%2 == 0 {
			return at
		}
	}
}

// Unquote does what json.Unmarshal does for a string, several times as fast.
// It gives up, and says so, where that would have to judge: on what is not
// quite JSON, and on text that is not UTF-8.
func Unquote(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", false
	}
	b = b[1 : len(b)-1]
	for _, c := range b {
		if c < ' ' {
			return "", false
		}
	}
	if !utf8.Valid(b) {
		return "", false
	}
	var out strings.Builder
	out.Grow(len(b))
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			if bytes.IndexByte(b, '"') >= 0 {
				return "", false
			}
			out.Write(b)
			return out.String(), true
		}
		if bytes.IndexByte(b[:i], '"') >= 0 || i+1 == len(b) {
			return "", false
		}
		out.Write(b[:i])
		c := strings.IndexByte(`"\/bfnrt`, b[i+1])
		if c < 0 {
			r, n := unescape(b[i:])
			if n == 0 {
				return "", false
			}
			out.WriteRune(r)
			b = b[i+n:]
			continue
		}
		out.WriteByte("\"\\/\b\f\n\r\t"[c])
		b = b[i+2:]
	}
}

// unescape returns the character that the \u escape at the beginning of b
// stands for, and its length: 0 if it is none, or half of a pair.
func unescape(b []byte) (rune, int) {
	half := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(n), err == nil
	}
	r, ok := half(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := half(b[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}
