package output

import (
	"strings"
	"unicode"
)

// Characters that are invisible alone, but have a function in some scripts or in pictures.
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
	firstHaraka   = '\u064b' // Arabic marks without a script in Unicode
	lastHaraka    = '\u065f'
	superAleph    = '\u0670'
	otherPictures = "\u2139\u3030" // pictures that are no symbols in Unicode
)

// joining are scripts in which joiners select the form of letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Meetei_Mayek,
}

// viramas remove the vowel of a letter; a joiner after a virama is also visible at the end of a
// word.
const viramas = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"

// waits reports whether the function of r depends on the next character.
func waits(r rune) bool {
	return r == softHyphen || r == nonJoiner || r == joiner || r == asText || r == asPicture
}

// placed reports whether r, which is invisible alone, has a function between two characters. Before
// is 0 if the character before was escaped.
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

// joins reports whether a joiner or a non-joiner has a function between two characters: after a
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

// takesSelector reports whether a selector commonly chooses between the text and the picture form
// of r.
func takesSelector(r rune) bool {
	return r >= 0x80 && (unicode.In(r, unicode.So, unicode.Sm, unicode.Po) || strings.ContainsRune(otherPictures, r))
}
