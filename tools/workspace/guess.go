package workspace

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/text/encoding/htmlindex"
)

// western is the charset of a text without any mark of another. It gives all
// but five bytes a character.
const western = "windows-1252"

// guess decodes a text in a charset that it does not name and that is not
// UTF-8.
func guess(b []byte) (string, Format, error) {
	if damaged(b) {
		text := string(bytes.ToValidUTF8(b, []byte("\ufffd")))
		return text, Format{Charset: "utf-8", Lossy: true}, nil
	}
	candidates := likely(b)
	for i, c := range candidates {
		text, exact, ok := decodeAs(b, c.Charset)
		switch {
		case !ok:
		case exact:
			return text, Format{Charset: c.Charset}, nil
		case i == 0 && c.Confidence >= sure && !single(c.Charset):
			// Another charset would keep the bytes and show nonsense.
			return text, Format{Charset: c.Charset, Lossy: true}, nil
		}
	}
	text, exact, ok := decodeAs(b, western)
	if !ok {
		return "", Format{}, ErrBinary
	}
	return text, Format{Charset: western, Lossy: !exact}, nil
}

// How confident, of 100, the detector is when there is little doubt, and when
// it knows nothing.
const sure, clueless = 80, 10

// single reports whether every character of charset is one byte.
func single(charset string) bool {
	return strings.HasPrefix(charset, "iso-") || strings.HasPrefix(charset, "windows-") ||
		strings.HasPrefix(charset, "koi8-")
}

// damaged reports whether b is UTF-8 but for a few bytes.
func damaged(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		b = b[n:]
	}
	return good > 3*bad
}

// decodeAs decodes b as charset and reports whether encoding gives b again.
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
	// The order of equals is not always the same.
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
		enc, err := htmlindex.Get(name)
		if err != nil {
			continue
		}
		if r.Charset, err = htmlindex.Name(enc); err == nil {
			named = append(named, r)
		}
	}
	return named
}

// sample returns the lines of b that are not plain ASCII, as far as they are
// needed for telling their charset.
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
