package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// strange returns what in text readers of shell scripts disagree about, or
// people can't see, and nothing if there is no such thing.
func strange(text string) string {
	if !utf8.ValidString(text) {
		return "it is not valid UTF-8"
	}
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
		case r == '\\' && strings.HasPrefix(text[i+1:], "\n"):
			return "it breaks a line by a backslash"
		case r >= ' ' && r < 0x7f:
		case unicode.IsControl(r):
			return fmt.Sprintf("it holds the control character %U", r)
		case unicode.In(r, unicode.Cf, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return fmt.Sprintf("it holds the invisible character %U", r)
		}
	}
	return ""
}

// maxNests bounds how deep the parser may have to go before the depth is known.
// A level costs it about 4 KiB.
const maxNests = 4000

// nests returns how many things in text could nest that cost the parser much.
func nests(text string) int {
	n := 0
	sign := false // the last character but blanks was one that may stand in a row
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '?':
			n++
			sign = false
		case '!', '-', '+', '~':
			if sign {
				n++
			}
			sign = true
		case ' ', '\t', '\n':
		default:
			sign = false
		}
	}
	return n
}
