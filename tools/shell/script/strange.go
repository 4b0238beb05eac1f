package script

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// strange describes a part of text that shells parse differently, or that is invisible; ""
// if there is none.
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

// maxNests limits the parser's recursion before the depth is known. A level costs about 4
// KiB.
const maxNests = 4000

// nests returns the number of constructs in text that may nest in the parser.
func nests(text string) int {
	n := 0
	sign := false // the last non-blank character is one that may repeat
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
