package output

import (
	"strings"
	"unicode"
)

// What shows nothing by itself and has its place in the writing of a language, or in a picture.
const (
	softHyphen    = '\u00ad'
	nonJoiner     = '\u200c'
	joiner        = '\u200d'
	asText        = '\ufe0e'
	asPicture     = '\ufe0f'
	keycap        = '\u20e3'
	keycapBases   = "0123456789#*"
	endOfText     = rune(-1)
	firstTone     = '\U0001f3fb' // of skin
	lastTone      = '\U0001f3ff'
	firstHaraka   = '\u064b' // marks of Arabic that Unicode counts to no script
	lastHaraka    = '\u065f'
	superAleph    = '\u0670'
	otherPictures = "\u2139\u3030" // pictures that are no symbols to Unicode
)

// joining are the scripts in which joiners choose the form of letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Meetei_Mayek,
}

// viramas take the vowel of a letter; a joiner behind one is seen at the end of a word, too.
const viramas = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"

// waits reports whether the next character decides if r has its place.
func waits(r rune) bool {
	return r == softHyphen || r == nonJoiner || r == joiner || r == asText || r == asPicture
}

// placed reports whether r, which shows nothing by itself, has its place
// between two characters. The one before is 0 if it was escaped.
func placed(before, r, next rune) bool {
	switch r {
	case asText, asPicture:
		return takesSelector(before) || r == asPicture && next == keycap && strings.ContainsRune(keycapBases, before)
	case softHyphen:
		return unicode.IsLetter(before) && unicode.IsLetter(next) && !hidden(next)
	case joiner:
		return picture(before) && picture(next) && !tone(next) && next != asPicture || joins(before, next)
	case nonJoiner:
		return joins(before, next)
	}
	return false
}

func picture(r rune) bool {
	return r == asPicture || tone(r) || r >= 0x80 && unicode.In(r, unicode.So, unicode.Sm)
}

func tone(r rune) bool { return r >= firstTone && r <= lastTone }

// joins reports whether a joiner or a non-joiner has a place between two characters: behind a
// virama, or between characters of the same joining script.
func joins(before, next rune) bool {
	if strings.ContainsRune(viramas, before) {
		return true
	}
	script := joiningScript(before)
	return script != nil && script == joiningScript(next)
}

func joiningScript(r rune) *unicode.RangeTable {
	switch {
	case r >= firstHaraka && r <= lastHaraka, r == superAleph:
		return unicode.Arabic
	case hidden(r), !unicode.IsLetter(r) && !unicode.IsMark(r):
		return nil
	}
	for _, s := range joining {
		if unicode.Is(s, r) {
			return s
		}
	}
	return nil
}

// takesSelector reports whether r is a character whose look is commonly chosen
// between text and picture.
func takesSelector(r rune) bool {
	return r >= 0x80 && (unicode.In(r, unicode.So, unicode.Sm, unicode.Po) || strings.ContainsRune(otherPictures, r))
}
