package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// A Decoder decodes texts. It has hints that decide where the bytes don't determine the charset;
// the zero Decoder has none.
type Decoder struct {
	Declared      string   // the charset of texts that are not UTF-8, from a setting or a file
	LocaleCharset string   // the likeliest charset for the user's language
	Neighbours    [][]byte // the files of the same folder, which are likely written in the same charset
}

// New returns the Decoder for the charset of a setting and for a locale, such as ru_RU.UTF-8.
// Either may be "".
func New(setting, locale string) Decoder {
	return Decoder{Declared: Name(setting), LocaleCharset: localCharset(locale)}
}

// Typed returns the function that converts text from a terminal to UTF-8, unless it is UTF-8. It
// returns nil if the locale names no other charset.
func Typed(locale string) func(b []byte) []byte {
	name := namedCharset(locale)
	if name == "" {
		return nil
	}
	return func(b []byte) []byte {
		if text, _, ok := decodeAs(b, name); ok && !utf8.Valid(b) {
			return []byte(text)
		}
		return b
	}
}

// Name returns the name that the WHATWG gives a charset, or "" if it is not known.
func Name(label string) string {
	label = strings.ToLower(strings.TrimSpace(label))
	label = strings.TrimSuffix(label, "-bom")
	if rest, ok := strings.CutPrefix(label, "windows125"); ok {
		label = "windows-125" + rest
	}
	switch label {
	case "cp932", "ms932":
		label = "shift_jis"
	case "cp936", "ms936":
		label = "gbk"
	case "cp949", "uhc":
		label = "euc-kr"
	case "cp950":
		label = "big5"
	case "utf-32le", "utf-32be":
		return label
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(enc)
	if err != nil || name == "replacement" || name == "x-user-defined" {
		return ""
	}
	return name
}

// around returns the common charset of b and the neighbouring files, "" if it is uncertain.
func (d Decoder) around(b []byte) string {
	own := sample(b)
	all := slices.Clone(own)
	for _, other := range d.Neighbours {
		if !utf8.Valid(other) && !damaged(other) && bytes.IndexByte(other, 0) < 0 {
			all = append(all, sample(other)...)
		}
	}
	found := likely(all)
	if len(all) == len(own) || len(found) == 0 || found[0].Confidence < sure ||
		found[0].Charset == western && d.LocaleCharset != "" && doubtful(found[0], d.LocaleCharset, all) {
		return ""
	}
	return found[0].Charset
}
