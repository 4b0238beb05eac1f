package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A redraw removes overwritten terminal output: of a line that is redrawn repeatedly, such
// as a progress bar, the first and the last state remain, on two lines. It works on a text
// in pieces, and holds back a line that may still be redrawn.
type redraw struct {
	begun bool   // the line is not empty
	again bool   // the line is being redrawn, and held is its new text
	held  []byte // not passed on yet
	back  bool   // the last byte was a carriage return
}

// append appends the remaining text of src to dst.
func (r *redraw) append(dst, src []byte) []byte {
	const longest = 64 << 10 // a longer line is no progress bar
	for _, b := range src {
		switch {
		case b == '\r':
			r.back = true
			continue
		case b == '\n':
			dst = r.flush(dst)
			if r.back {
				dst = append(dst, '\r')
			}
			dst = append(dst, '\n')
			*r = redraw{held: r.held}
			continue
		case r.back:
			r.back = false
			r.again = r.begun
			r.held = r.held[:0]
		}
		if r.again {
			if r.held = append(r.held, b); len(r.held) >= longest {
				dst = r.flush(dst)
			}
		} else {
			dst = append(dst, b)
			r.begun = true
		}
	}
	return dst
}

// flush adds the line that was held back, unless it is blank.
func (r *redraw) flush(dst []byte) []byte {
	if len(bytes.TrimSpace(r.held)) > 0 {
		dst = append(append(dst, '\n'), r.held...)
	}
	r.again = false
	r.held = r.held[:0]
	return dst
}

// rubbedOut returns text as displayed: without carriage returns at line ends, and without
// characters erased by backspace.
func rubbedOut(text string) string {
	const rubout = "\b \b"
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.Contains(text, rubout) {
		return text
	}
	kept := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if !strings.HasPrefix(text[i:], rubout) {
			kept = append(kept, text[i])
			continue
		}
		if r, n := utf8.DecodeLastRune(kept); r != '\n' {
			kept = kept[:len(kept)-n]
		}
		i += len(rubout) - 1
	}
	return string(kept)
}
