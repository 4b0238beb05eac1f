package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// easterns are the charsets of languages whose texts are known by their commonest characters,
// even if they are short.
var easterns = []struct {
	charset, common string
	kana            bool
}{
	{"gb18030", simplified, false},
	{"big5", traditional, false},
	{"shift_jis", kanji, true},
	{"euc-jp", kanji, true},
	{"euc-kr", hangul, false},
}

// eastern returns the charset of a Chinese, Japanese, Korean or Thai text, "" if b does not
// look like one. If two charsets fit about equally well, it returns the preferred one.
func eastern(b []byte, preferred string) string {
	const enough = 4096
	if b = sample(b); len(b) > enough {
		b = b[:max(bytes.LastIndexByte(b[:enough], '\n')+1, enough/2)]
	}
	words, capitals := wholeWords(b), true // in many single-byte charsets, capitals begin at 0xc0
	for _, c := range b {
		capitals = capitals && (c < utf8.RuneSelf || c >= 0xc0)
	}
	found, best := "", 0
	for _, e := range easterns {
		common, all, different := 0, 0, map[rune]bool{}
		text, _, ok := decodeAs(b, e.charset)
		if !ok || strings.ContainsRune(strings.TrimRight(text, "\ufffd"), utf8.RuneError) {
			continue
		}
		for _, r := range text {
			switch {
			case r < utf8.RuneSelf || strings.ContainsRune("“”‘’…—·×°→←", r), 0x3000 <= r && r < 0x3040, 0xff01 <= r && r < 0xff5f: // marks
				continue
			case e.kana && 0x3040 < r && r < 0x30ff || strings.ContainsRune(e.common, r):
				common++
			}
			all++
			different[r] = true
		}
		switch {
		case all < 2 || 2*common <= all:
			continue
		case capitals && (all < 4 || common < all || len(different) < 3):
			continue
		case !words && (all < 4 || 4*common < 3*all) && (e.charset != "shift_jis" || common < all): // its bytes begin no words
			continue
		}
		score := 100 * common / all
		if e.charset == preferred {
			score += 15
		}
		if score > best {
			found, best = e.charset, score
		}
	}
	if fits, exactly := thai(b); words && fits && (found == "" || exactly && best < 65) {
		return "windows-874"
	}
	return found
}

// thai reports whether the vowels and marks of b stand where those of Thai words can, and
// whether all do. Its letters are spread over many bytes, unlike those of other alphabets.
func thai(b []byte) (fits, exactly bool) {
	const consonant, leading, vowel, mark, other = 1, 2, 3, 4, 5
	kind := func(c byte) int {
		switch {
		case 0xa1 <= c && c <= 0xce:
			return consonant
		case 0xe0 <= c && c <= 0xe4:
			return leading
		case c == 0xd0 || c == 0xd2 || c == 0xd3 || c == 0xe5:
			return vowel
		case c == 0xd1 || 0xd4 <= c && c <= 0xda || 0xe7 <= c && c <= 0xee:
			return mark
		case c == 0xcf || c == 0xdf || c == 0xe6 || 0xf0 <= c && c <= 0xf9:
			return other
		}
		return 0
	}
	all, bad, first, middle, last, signs := 0, 0, 0, 0, 0, 0
	before := 0
	for _, c := range b {
		is := kind(c)
		if before == leading && is != consonant {
			bad++
		}
		if before = is; c < utf8.RuneSelf {
			continue
		}
		all++
		switch {
		case c < 0xc0:
			first++
		case c <= 0xda:
			middle++
		case 0xe0 <= c && c <= 0xee:
			last++
		}
	}
	before = 0
	for _, c := range b {
		is := kind(c)
		switch {
		case c < utf8.RuneSelf:
		case is == 0:
			bad++
		case is == mark || is == vowel:
			if signs++; before != consonant && before != mark && before != vowel {
				bad++
			}
		}
		before = is
	}
	fits = all >= 4 && 10*bad <= all && 8*first >= all && 8*middle >= all && (last > 0 || all <= 6) && signs > 0
	return fits, fits && bad == 0
}
