package line

import (
	"context"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// A discipline is the keys with which a terminal edits lines by itself.
type discipline struct{ rubout, word, kill, end byte }

// A half is a line that was begun while nobody read it. The terminal has given
// it away and can't take back a character of it any more, so that the line is
// edited here, as the terminal would, and with the same bytes.
type half struct {
	discipline
	out  io.Writer
	text []rune
	rest []byte // of a character whose end has not come
}

// again shows what was typed so far.
func (h *half) again() { io.WriteString(h.out, show(string(h.text))) }

// take takes typed bytes, up to an Enter at most. It returns what is left of
// them and whether there was one.
func (h *half) take(b []byte) (left []byte, entered bool) {
	b = append(h.rest, b...)
	h.rest = nil
	for len(b) > 0 {
		switch c := b[0]; {
		case c == '\n':
			io.WriteString(h.out, "\n")
			return b[1:], true
		case c == h.rubout, c == '\b', c == 0x7f:
			h.erase(1)
		case c == h.word:
			h.erase(h.lastWord())
		case c == h.kill:
			h.erase(len(h.text))
		case c == h.end, c == 0:
		case !utf8.FullRune(b):
			h.rest = append(h.rest, b...)
			return nil, false
		default:
			r, n := utf8.DecodeRune(b)
			h.text = append(h.text, r)
			io.WriteString(h.out, show(string(r)))
			b = b[n:]
			continue
		}
		b = b[1:]
	}
	return nil, false
}

// erase takes n characters back.
func (h *half) erase(n int) {
	n = min(n, len(h.text))
	gone := h.text[len(h.text)-n:]
	h.text = h.text[:len(h.text)-n]
	width := displaywidth.String(show(string(gone)))
	io.WriteString(h.out, strings.Repeat("\b \b", width))
}

// lastWord returns the length of the last word and the blanks behind it.
func (h *half) lastWord() int {
	i := len(h.text)
	for i > 0 && unicode.IsSpace(h.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(h.text[i-1]) {
		i--
	}
	return len(h.text) - i
}

// finish lets the user finish the line that begins with what c has read, which
// the terminal may have shown. It returns early when nothing is left of it, for
// the terminal to go on.
func (c *cooked) finish(ctx context.Context, prompt string, shown bool) (line string, done bool, err error) {
	keys, err := c.src.single()
	if err != nil {
		return "", false, nil
	}
	defer c.src.modes.restore()
	h := &half{discipline: keys, out: c.Out.Terminal()}
	h.text = []rune(clean(c.buf))
	c.buf = nil
	if !shown {
		h.again()
	}
	for len(h.text) > 0 || len(h.rest) > 0 {
		b, err := c.src.read(ctx)
		if err == errResumed {
			c.src.single()
			c.Out.Entered()
			c.Out.Prompt(prompt)
			h.again()
			continue
		}
		if err != nil {
			return "", true, c.given(ctx, err)
		}
		left, entered := h.take(b)
		if entered {
			c.buf = append(c.buf, left...)
			c.Out.Entered()
			return clean([]byte(string(h.text))), true, nil
		}
	}
	return "", false, nil
}

// given returns why a read was given up on a terminal, which has forgotten
// what it held.
func (c *cooked) given(ctx context.Context, err error) error {
	if c.buf = nil; ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.end = err
	return io.EOF
}
