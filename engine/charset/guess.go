package charset

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/saintfish/chardet"
)

// western is the default charset. All but five of its bytes are characters.
const western = "windows-1252"

// guess decodes a text that is not UTF-8 and has no byte order mark.
func (d Decoder) guess(b []byte) (string, Format, error) {
	if damaged(b) {
		text, f := withRaw(b, b, Format{Charset: "utf-8"})
		return text, f, nil
	}
	if text, exact, ok := decodeAs(b, d.Declared); ok && exact && width(d.Declared) == 1 {
		return text, Format{Charset: d.Declared}, nil
	}
	if around := d.around(b); around == "" || !single(around) {
		name := eastern(b, cmp.Or(around, d.LocaleCharset))
		if text, exact, ok := decodeAs(b, name); ok && exact {
			return text, Format{Charset: name, Guessed: true}, nil
		}
	}
	candidates := likely(b)
	if text, name := d.usual(b, candidates); name != "" {
		return text, Format{Charset: name, Guessed: true}, nil
	}
	for i, c := range candidates {
		text, exact, ok := decodeAs(b, c.Charset)
		switch {
		case !ok:
		case exact:
			return text, Format{Charset: c.Charset, Guessed: true}, nil
		case i == 0 && c.Confidence >= sure && !single(c.Charset):
			// Decoding as western would keep the bytes, but show nonsense.
			text, f := withRaw(b, b, Format{Charset: c.Charset, Guessed: true})
			return text, f, nil
		}
	}
	text, exact, ok := decodeAs(b, western)
	if !ok {
		return "", Format{}, ErrBinary
	}
	return text, Format{Charset: western, Guessed: true, Lossy: !exact}, nil
}

// usual decodes b in the charset of the files beside it or, if the detector is uncertain, of the
// user's language. The name is "" if neither charset fits.
func (d Decoder) usual(b []byte, candidates []chardet.Result) (text, name string) {
	for _, name := range []string{d.around(b), d.LocaleCharset} {
		if name == "" || len(candidates) > 0 && !doubtful(candidates[0], name, b) {
			continue
		}
		text, exact, ok := decodeAs(b, name)
		if !ok || !exact || !spoken(text) {
			continue
		}
		other, exact, ok := decodeAs(b, standards[name])
		if ok && exact && (letters(other) > letters(text) || swapped(text) && !swapped(other)) {
			return other, standards[name]
		}
		return text, name
	}
	return "", ""
}

// locals are the legacy charsets of languages, by the beginning of a locale.
var locals = []struct{ locale, charset string }{
	{"zh_tw", "big5"}, {"zh_hk", "big5"}, {"zh", "gb18030"}, {"ja", "shift_jis"}, {"ko", "euc-kr"},
	{"ru", "windows-1251"}, {"uk", "windows-1251"}, {"be", "windows-1251"}, {"bg", "windows-1251"}, {"sr", "windows-1251"},
	{"pl", "windows-1250"}, {"cs", "windows-1250"}, {"sk", "windows-1250"}, {"hu", "windows-1250"}, {"sl", "windows-1250"},
	{"hr", "windows-1250"}, {"ro", "windows-1250"}, {"el", "windows-1253"}, {"tr", "windows-1254"}, {"he", "windows-1255"},
	{"ar", "windows-1256"}, {"fa", "windows-1256"}, {"et", "windows-1257"}, {"lv", "windows-1257"}, {"lt", "windows-1257"},
	{"vi", "windows-1258"}, {"th", "windows-874"},
}

// standards are charsets that were used beside those of locals for the same languages.
var standards = map[string]string{"windows-1250": "iso-8859-2", "windows-1251": "koi8-r"}

// doubtful reports whether b may be in the charset of the user's locale, although the detector
// chose found: English words in between make the detector sure of a Western charset.
func doubtful(found chardet.Result, local string, b []byte) bool {
	whole := found.Charset != western || latin[local] || wholeWords(b)
	if found.Confidence < sure {
		return whole
	}
	return whole && !latin[local] && single(found.Charset) && (found.Charset == western || !single(local))
}

// latin are the charsets in locals of languages whose words contain ASCII letters.
var latin = map[string]bool{"windows-1250": true, "windows-1254": true, "windows-1257": true, "windows-1258": true}

// swapped reports whether text has small letters in the place of capitals and vice versa, as
// Cyrillic in the wrong charset has.
func swapped(text string) bool {
	small, capitals, inside, before := 0, 0, 0, ' '
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case unicode.IsLower(r):
			small++
		case unicode.IsUpper(r):
			capitals++
			if before >= utf8.RuneSelf && unicode.IsLower(before) {
				inside++
			}
		}
		before = r
	}
	return inside > 0 && capitals > small
}

// wholeWords reports whether more words of b are wholly outside of ASCII than partly, as in
// languages without Latin letters.
func wholeWords(b []byte) bool {
	whole, mixed := 0, 0
	for _, word := range bytes.FieldsFunc(b, func(r rune) bool { return r < utf8.RuneSelf && !unicode.IsLetter(r) }) {
		high := 0
		for _, c := range word {
			if c >= utf8.RuneSelf {
				high++
			}
		}
		switch {
		case high > 1 && 2*high > len(word):
			whole++
		case high > 0:
			mixed++
		}
	}
	return whole > mixed
}

// localCharset returns the legacy charset of a locale: the charset that the locale names, else
// the charset of its language, else "".
func localCharset(locale string) string {
	if name := namedCharset(locale); name != "" {
		return name
	}
	locale = strings.ToLower(locale)
	for _, l := range locals {
		if rest, ok := strings.CutPrefix(locale, l.locale); ok && (rest == "" || strings.IndexByte("_.@", rest[0]) >= 0) {
			return l.charset
		}
	}
	return ""
}

// namedCharset returns the charset that a locale names, "" if that is UTF-8.
func namedCharset(locale string) string {
	_, named, _ := strings.Cut(locale, ".")
	named, _, _ = strings.Cut(named, "@")
	if name := Name(named); name != "utf-8" {
		return name
	}
	return ""
}

// spoken reports whether the non-ASCII characters of a text are mostly letters.
func spoken(text string) bool {
	all := 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			all++
		}
	}
	return 3*letters(text) > 2*all
}

// letters returns the number of non-ASCII letters in text.
func letters(text string) (n int) {
	for _, r := range text {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) && !unicode.Is(unicode.Co, r) {
			n++
		}
	}
	return n
}

// The detector's confidence, of 100, above which its result is nearly certain, and below which it
// is worthless.
const sure, clueless = 80, 10

// single reports whether every character of charset is one byte.
func single(charset string) bool {
	return strings.HasPrefix(charset, "iso-") || strings.HasPrefix(charset, "windows-") ||
		strings.HasPrefix(charset, "koi8-")
}

// damaged reports whether b is UTF-8 except for a few bytes.
func damaged(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) { // cut off at the end
			return good > bad || bad == 0 && len(b) > 1
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		b = b[n:]
	}
	return good > 0 && good >= bad // in other charsets few bytes are UTF-8 by chance
}

// decodeAs decodes b as charset. Exact reports whether encoding the text gives b again.
func decodeAs(b []byte, charset string) (text string, exact, ok bool) {
	enc, err := encodingOf(charset)
	if err != nil {
		return "", false, false
	}
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil || !utf8.Valid(out) {
		return "", false, false
	}
	back, err := enc.NewEncoder().Bytes(out)
	return string(out), err == nil && bytes.Equal(back, b), true
}

// likely returns the charsets that b may be written in, by the names that the
// WHATWG gives them, the likeliest first.
func likely(b []byte) []chardet.Result {
	found, err := chardet.NewTextDetector().DetectAll(sample(b))
	if err != nil {
		return nil
	}
	// The detector's order of equal results varies.
	slices.SortFunc(found, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	var named []chardet.Result
	for _, r := range found {
		if r.Confidence <= clueless || strings.HasPrefix(r.Charset, "UTF-") {
			continue
		}
		name := strings.ToLower(r.Charset)
		switch name {
		case "gb-18030":
			name = "gb18030"
		case "iso-8859-8-i":
			name = "iso-8859-8"
		}
		if strings.HasPrefix(name, "iso-2022-") || strings.HasPrefix(name, "ibm") {
			continue
		}
		if r.Charset = Name(name); r.Charset != "" {
			named = append(named, r)
		}
	}
	return named
}

// sample returns lines of b that are not plain ASCII, enough to detect their charset.
func sample(b []byte) []byte {
	const enough = 1 << 16
	var s []byte
	for line := range bytes.Lines(b) {
		if bytes.IndexFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			continue
		}
		if s = append(s, line[:min(len(line), enough)]...); len(s) >= enough {
			break
		}
	}
	return s
}
