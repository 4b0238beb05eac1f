package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A redraw leaves out what programs that write to a terminal draw over: of a
// line that was begun again and again, such as a progress bar, its first state
// and its last remain, one below the other. It works on a text that comes in
// pieces; what it can't yet tell the end of it holds back.
type redraw struct {
	begun bool   // something stands on the line
	again bool   // the line has been begun again, and held is what it says now
	held  []byte // not passed on yet
	back  bool   // a return was the last byte
}

// append adds what remains of src to dst.
func (r *redraw) append(dst, src []byte) []byte {
	const longest = 64 << 10 // that is no progress bar
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

// flush adds what was held back, if one can see it.
func (r *redraw) flush(dst []byte) []byte {
	if len(bytes.TrimSpace(r.held)) > 0 {
		dst = append(append(dst, '\n'), r.held...)
	}
	r.again = false
	r.held = r.held[:0]
	return dst
}

// rubbedOut returns what stands on a terminal that was sent text: lines without
// the returns at their ends, and without what was taken back.
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
