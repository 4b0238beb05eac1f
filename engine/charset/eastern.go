package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// easterns are the charsets of languages whose texts, even short ones, can be recognized by the
// most frequent characters.
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

// eastern returns the charset of a Chinese, Japanese or Korean text, "" if b does not
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
	return found
}
