package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
		n := nextQuote(b[at:])
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
	if !utf8.Valid(b) {
		return "", false
	}
	plain := 0 // most strings have nothing to be taken out: ids, times, words
	for ; plain < len(b) && b[plain] >= ' ' && b[plain] != '"' && b[plain] != '\\'; plain++ {
		if len(b)-plain >= 8 && special(b[plain:]) == 8 {
			plain += 7
		}
	}
	if plain == len(b) {
		return string(b), true
	}
	return unquote(b, plain)
}

// special returns how many of the first eight bytes of b stand before one that is no
// character by itself.
func special(b []byte) int {
	w := binary.LittleEndian.Uint64(b)
	return bits.TrailingZeros64(below(w, ' ')|below(w^'"'*each, 1)|below(w^'\\'*each, 1)) / 8
}

// unquote is Unquote for what stands between the quotes, from i on.
func unquote(b []byte, i int) (string, bool) {
	var out strings.Builder
	out.Grow(len(b))
	out.Write(b[:i])
	var buf [1 << 10]byte // pieces are short
	n := 0
	for i < len(b) {
		if n > len(buf)-16 {
			out.Write(buf[:n])
			n = 0
		}
		if len(b)-i >= 8 {
			copy(buf[n:], b[i:i+8])
			plain := special(b[i:])
			i, n = i+plain, n+plain
			if plain == 8 {
				continue
			}
		}
		switch c := b[i]; {
		case c == '\\':
			r, length := escaped(b[i:])
			if length == 0 {
				return "", false
			}
			i, n = i+length, n+utf8.EncodeRune(buf[n:], r)
		case c == '"' || c < ' ':
			return "", false
		default:
			buf[n] = c
			i, n = i+1, n+1
		}
	}
	out.Write(buf[:n])
	return out.String(), true
}

// each has a one in each of its eight bytes.
const each = 0x0101010101010101

// below returns a number whose lowest bit that is set is in the first byte of w that is
// less than most, 0 if none is. The numbers of bytes go from the low to the high ones.
func below(w uint64, most uint64) uint64 { return (w - each*most) &^ w & (each << 7) }

// nextQuote is bytes.IndexByte for a quote that is likely to be near.
func nextQuote(b []byte) int {
	const near = 64
	for i := 0; i < near && len(b)-i >= 8; i += 8 {
		if m := below(binary.LittleEndian.Uint64(b[i:])^'"'*each, 1); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	skip := min(near, len(b)&^7)
	n := bytes.IndexByte(b[skip:], '"')
	if n < 0 {
		return -1
	}
	return skip + n
}

// escaped returns the character that the escape at the beginning of b stands for, and its
// length: 0 if it is none.
func escaped(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	if c := strings.IndexByte(`"\/bfnrt`, b[1]); c >= 0 {
		return rune("\"\\/\b\f\n\r\t"[c]), 2
	}
	return unescape(b)
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
