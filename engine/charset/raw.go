package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// firstRaw is the private character that represents the byte 0; the characters of the other bytes
// follow. No known software gives characters of this plane a meaning.
const firstRaw = 0x10ff00

// Readable returns a text with a replacement character in the place of each invalid byte.
func Readable(text string) string {
	if !strings.Contains(text, "\xf4\x8f") { // the first bytes of all raw characters
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= firstRaw {
			return utf8.RuneError
		}
		return r
	}, text)
}

// withRaw decodes rest, which is all without its byte order mark, in the format f. Private
// characters represent invalid bytes. If the text could not be encoded again, the format is
// lossy.
func withRaw(all, rest []byte, f Format) (string, Format) {
	f.Raw = true
	var b strings.Builder
	switch unit := width(f.Charset); {
	case f.Charset == "utf-8":
		writeRaw(&b, rest)
	case unit > 1:
		whole := len(rest) - len(rest)%unit
		text, _, _ := decodeAs(rest[:whole], f.Charset)
		b.WriteString(text)
		for _, c := range rest[whole:] {
			b.WriteRune(firstRaw + rune(c))
		}
	default:
		for line := range bytes.Lines(rest) {
			if text, exact, ok := decodeAs(line, f.Charset); ok && exact {
				b.WriteString(text)
			} else {
				writeASCII(&b, line)
			}
		}
	}
	text := b.String()
	if back, err := f.Encode(text); err == nil && bytes.Equal(back, all) {
		return text, f
	}
	f.Raw, f.Lossy = false, true
	if text, _, ok := decodeAs(rest, f.Charset); ok && f.Charset != "utf-8" {
		return text, f
	}
	return string(bytes.ToValidUTF8(rest, []byte("\ufffd"))), f
}

// width returns the bytes per code unit of a charset.
func width(charset string) int {
	switch charset {
	case "utf-16le", "utf-16be":
		return 2
	case "utf-32le", "utf-32be":
		return 4
	}
	return 1
}

// writeRaw writes the UTF-8 in b, and its other bytes as private characters.
func writeRaw(to *strings.Builder, b []byte) {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			to.WriteRune(firstRaw + rune(b[0]))
		} else {
			to.Write(b[:n])
		}
		b = b[n:]
	}
}

// writeASCII writes the ASCII in b, and its other bytes as private characters.
func writeASCII(to *strings.Builder, b []byte) {
	for _, c := range b {
		if c < utf8.RuneSelf {
			to.WriteByte(c)
		} else {
			to.WriteRune(firstRaw + rune(c))
		}
	}
}

// encodeRaw is Encode for a text with private characters for bytes.
func (f Format) encodeRaw(text string) ([]byte, error) {
	f.Raw = false
	bom, err := f.Encode("")
	out := bytes.Clone(bom)
	f.BOM = false
	for err == nil && text != "" {
		at := strings.IndexFunc(text, func(r rune) bool { return r >= firstRaw })
		if at < 0 {
			at = len(text)
		}
		var b []byte
		if b, err = f.Encode(text[:at]); err != nil {
			return nil, err
		}
		out, text = append(out, b...), text[at:]
		for text != "" {
			r, n := utf8.DecodeRuneInString(text)
			if r < firstRaw {
				break
			}
			out, text = append(out, byte(r-firstRaw)), text[n:]
		}
	}
	return out, err
}
