package question

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikeSign returns the first character of s that may be taken for an ASCII character, such as
// U+2215 for a slash. Punctuation in its usual place in a sentence is accepted.
func lookalikeSign(s string) string {
	const arrows, box, fullwidth = '\u2190', '\u2500', '\uff00'
	for word := range strings.FieldsSeq(s) {
		eastern := strings.ContainsFunc(word, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		})
		runes := []rune(" " + word + " ")
		for i, r := range runes {
			folded := norm.NFKC.String(string(r))
			switch {
			case r <= unicode.MaxASCII, eastern && r >= fullwidth:
			case len(folded) == 1 && !unicode.In(r, unicode.No, unicode.Lm, unicode.Lo), // neither superscripts nor ordinals
				unicode.In(r, unicode.Sm, unicode.Sk) && r>>8 != arrows>>8 || r&^0x7f == box,
				unicode.IsPunct(r) && !eastern && !inSentence(runes[i-1], r, runes[i+1]):
				return string(r)
			}
		}
	}
	return ""
}

// inSentence reports whether the punctuation mark r stands behind a word, before a word or alone.
func inSentence(before, r, after rune) bool {
	if unicode.IsLetter(before) || unicode.IsMark(before) || unicode.IsDigit(before) || strings.ContainsRune(".,!?)", before) {
		return true
	}
	return strings.ContainsRune(` "'(`, before) && (strings.ContainsRune(` "'`, after) || unicode.IsLetter(after) && !unicode.Is(unicode.Pd, r))
}

// mixedAlphabets returns the first word of s with letters of several alphabets that look alike.
func mixedAlphabets(s string) string {
	alphabets := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}
	words := strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for w := range words {
		var seen [5]bool
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
