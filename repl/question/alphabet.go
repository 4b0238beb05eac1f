package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// mixedAlphabets returns the first word of s with letters of several alphabets that look alike.
func mixedAlphabets(s string) string {
	alphabets := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek}
	words := strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for w := range words {
		var seen [3]bool
		kinds := 0
		for _, r := range w {
			for i, t := range alphabets {
				if !seen[i] && unicode.Is(t, r) {
					seen[i] = true
					kinds++
				}
			}
		}
		if kinds > 1 {
			return w
		}
	}
	return ""
}

// codePoints returns the code points of the letters in word that are not ASCII, each
// once.
func codePoints(word string) string {
	var all []string
	for _, r := range word {
		if p := fmt.Sprintf("%U", r); r > unicode.MaxASCII && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}
