package charset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode/utf32"

	"gemline/engine/text"
)

// ErrBinary is the error of bytes that are no text.
var ErrBinary = errors.New("is not text")

// A Format is the encoding of a text in a file. The zero Format is UTF-8 without a byte order
// mark.
type Format struct {
	Charset string // in the spelling of the WHATWG, or utf-32le, utf-32be; "" is utf-8
	BOM     bool   // a byte order mark comes first

	// Raw says that some bytes are invalid in the charset. In the text, a private character
	// represents each of them. [Format.Encode] turns it into the byte again; [Readable] shows it.
	Raw bool

	// Guessed says that neither a mark nor the bytes determine the charset.
	Guessed bool

	// Lossy says that the text lacks a part of the file, since some bytes are invalid in every
	// likely charset.
	Lossy bool

	// The number of line ends of each kind when the text was read; Encode ignores them.
	LF, CRLF int
}

// ErrLossy is the error of a text that can't be written in the format in which it was read.
var ErrLossy = errors.New("some bytes of the file are not text in any known encoding and would be lost")

// Encode returns the bytes of s in a file. If f is lossy or its charset lacks a character of s,
// Encode returns an error rather than another text.
func (f Format) Encode(s string) ([]byte, error) {
	if f.Lossy {
		return nil, ErrLossy
	}
	if f.Raw {
		return f.encodeRaw(s)
	}
	switch f.Charset {
	case "", "utf-8":
		if f.BOM {
			return append([]byte(bomUTF8), s...), nil
		}
		return []byte(s), nil
	}
	if i := text.Invalid(s); i >= 0 {
		return nil, fmt.Errorf("the text is not valid UTF-8 at byte %d and can't be written as %s", i, f.Charset)
	}
	if f.BOM {
		s = "\ufeff" + s
	}
	enc, err := encodingOf(f.Charset)
	if err != nil {
		return nil, fmt.Errorf("charset %s is not known", f.Charset)
	}
	b, err := enc.NewEncoder().Bytes([]byte(s))
	if err != nil {
		return nil, lacks(enc, f.Charset, s)
	}
	return b, nil
}

// Part decodes b, a part of a text in the format.
func (f Format) Part(b []byte) string {
	if text, _, ok := decodeAs(b, f.Charset); ok && f.Charset != "utf-8" {
		return text
	}
	return string([]rune(string(b))) // with a mark for each invalid byte
}

// Wide reports whether every character has two bytes or more, so that NUL bytes are text.
func (f Format) Wide() bool { return width(f.Charset) > 1 }

// Reader decodes the text of r, in the format and with its byte order mark. Marks replace invalid
// bytes.
func (f Format) Reader(r io.Reader) io.Reader {
	enc, err := encodingOf(f.Charset)
	if err != nil {
		return r
	}
	return enc.NewDecoder().Reader(r)
}

// HasOtherBOM reports whether b begins with a byte order mark of another charset than UTF-8.
func HasOtherBOM(b []byte) bool {
	for _, mark := range marks {
		if bytes.HasPrefix(b, []byte(mark.bytes)) {
			return true
		}
	}
	return false
}

// lacks returns an error that names the character of text that the charset lacks.
func lacks(enc encoding.Encoding, charset, text string) error {
	e := enc.NewEncoder()
	for _, r := range text {
		if _, err := e.String(string(r)); err != nil {
			return fmt.Errorf("the file's encoding, %s, has no character %q (%U)", charset, r, r)
		}
	}
	return fmt.Errorf("the text can't be written as %s", charset)
}

const bomUTF8 = "\xef\xbb\xbf"

// ToUTF8 returns a text of UTF-16 or UTF-32, as some editors and shells of Windows write it, in
// UTF-8, and other bytes as they are.
func ToUTF8(b []byte) []byte {
	if bytes.IndexByte(b, 0) >= 0 {
		if text, f, err := Decode(b); err == nil && strings.HasPrefix(f.Charset, "utf-") {
			return []byte(text)
		}
	}
	return b
}

// Decode is [Decoder.Decode] with no hint beside the bytes.
func Decode(b []byte) (string, Format, error) { return Decoder{}.Decode(b) }

// Decode returns the text in b and its format. [Format.Encode] returns b again, unless the format
// is lossy. The error is [ErrBinary] if b is no text.
func (d Decoder) Decode(b []byte) (string, Format, error) {
	text, f, err := d.decode(b)
	if err != nil {
		return "", Format{}, err
	}
	f.CRLF = strings.Count(text, "\r\n")
	f.LF = strings.Count(text, "\n") - f.CRLF
	return text, f, nil
}

func (d Decoder) decode(b []byte) (string, Format, error) {
	if text, f, ok := decodeBOM(b); ok {
		return text, f, nil
	}
	head := b[:min(len(b), 4096)]
	nul := bytes.IndexByte(head, 0) >= 0
	if !nul && utf8.Valid(b) {
		if controls(head)*10 > len(head)*3 {
			return "", Format{}, ErrBinary
		}
		return string(b), Format{Charset: "utf-8"}, nil
	}
	if nul {
		if text, charset, ok := guessUTF16(b); ok {
			return text, Format{Charset: charset}, nil
		}
		text, exact, ok := decodeAs(b, d.Declared)
		if ok && exact && width(d.Declared) > 1 && controls([]byte(text)) == 0 && spoken(text) {
			return text, Format{Charset: d.Declared}, nil
		}
		return "", Format{}, ErrBinary
	}
	if controls(head)*50 > len(head) {
		return "", Format{}, ErrBinary
	}
	return d.guess(b)
}

// decodeBOM decodes a text whose first bytes name its charset.
func decodeBOM(b []byte) (string, Format, bool) {
	if rest, ok := bytes.CutPrefix(b, []byte(bomUTF8)); ok {
		f := Format{Charset: "utf-8", BOM: true}
		if !utf8.Valid(rest) {
			text, f := withRaw(b, rest, f)
			return text, f, true
		}
		return string(rest), f, true
	}
	for _, mark := range marks {
		if rest, ok := bytes.CutPrefix(b, []byte(mark.bytes)); ok {
			if text, exact, ok := decodeAs(rest, mark.charset); ok && (exact || mark.charset != "utf-32le") {
				f := Format{Charset: mark.charset, BOM: true}
				if !exact {
					text, f = withRaw(b, rest, f)
				}
				return text, f, true
			}
		}
	}
	return "", Format{}, false
}

// marks are the byte order marks of charsets other than UTF-8. The first begins
// like the third.
var marks = []struct{ charset, bytes string }{
	{"utf-32le", "\xff\xfe\x00\x00"},
	{"utf-32be", "\x00\x00\xfe\xff"},
	{"utf-16le", "\xff\xfe"},
	{"utf-16be", "\xfe\xff"},
}

// guessUTF16 decodes UTF-16 without a byte order mark: one byte of most
// characters is 0, always on the same side.
func guessUTF16(b []byte) (text, charset string, ok bool) {
	if len(b)%2 != 0 {
		return "", "", false
	}
	var even, odd int
	for i, c := range b[:min(len(b), 4096)] {
		switch {
		case c != 0:
		case i%2 == 0:
			even++
		default:
			odd++
		}
	}
	charset = "utf-16le"
	if even > odd {
		charset = "utf-16be"
	}
	units, ascii := min(len(b), 4096)/2, max(even, odd)
	if even > 0 && odd > 0 || ascii*8 < units || units < 64 && ascii*2 <= units {
		return "", "", false
	}
	text, exact, _ := decodeAs(b, charset)
	return text, charset, exact && controls([]byte(text[:min(len(text), 4096)])) == 0
}

// controls counts the control characters in b that texts seldom have.
func controls(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x20 && (c < '\b' || c > '\r') && c != 0x1b || c == 0x7f {
			n++
		}
	}
	return n
}

// encodingOf returns the encoding of a charset, UTF-32 included, which the WHATWG lacks.
func encodingOf(charset string) (encoding.Encoding, error) {
	switch charset {
	case "utf-32le":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), nil
	case "utf-32be":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), nil
	}
	return htmlindex.Get(charset)
}
