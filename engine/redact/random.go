package redact

import (
	"slices"

	"gemline/engine/text"
)

// longRun matches a possible key: letters and digits without a word's usual breaks.
var longRun = text.Pattern(`[0-9A-Za-z]{16,}`)

// RandomRuns returns the long runs of letters and digits in s that look random, as keys do.
func RandomRuns(s string) []string {
	return slices.DeleteFunc(longRun().FindAllString(s, -1), func(run string) bool { return !looksRandom(run) })
}

// looksRandom reports whether letters and digits look random: digits among letters, or capitals
// where no word would begin.
func looksRandom(s string) bool {
	letter := func(r rune) bool { return r|0x20 >= 'a' }
	digits, capitals := 0, 0
	for _, r := range s {
		switch {
		case !letter(r):
			digits++
		case r < 'a':
			capitals++
		}
	}
	const word = 3 // letters in the shortest word of a name in camel case
	switch {
	case digits == len(s):
		return false
	case digits > 0:
		return true
	}
	return capitals > 0 && capitals < len(s) && len(s) < word*capitals
}
