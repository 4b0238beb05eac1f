package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/charset"
	"gemline/engine/text"
)

// maxOutput limits the stored output of a command, in bytes.
const maxOutput = 16 << 20

// truncated is the last line of a truncated output.
const truncated = "\n[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to 16MB.]"

// A capture processes the output of a command. It is used by one goroutine at a time.
type capture struct {
	strip  stripper
	redraw *redraw // for output to a terminal, else nil
	kept   tail
	live   func(string) // receives the output as it comes; may be nil
	log    func([]byte) // receives the output for the log; may be nil
	start  []byte       // the first bytes, until their charset is known
	seen   int64
	binary bool
	buf    []byte // stripped, reused
	lines  []byte // redrawn, reused
	rest   []byte // the first bytes of a character, not shown yet

	charsets charset.Decoder
	odd      []byte         // the first bytes that are not ASCII, shown already
	format   charset.Format // of that
}

// newCapture returns a capture that keeps limit bytes of the output, to a
// terminal or not.
func newCapture(limit int, terminal bool, charsets charset.Decoder, live func(string)) *capture {
	c := &capture{kept: tail{max: limit}, charsets: charsets, live: live}
	if terminal {
		c.redraw = &redraw{}
	}
	return c
}

func (c *capture) write(p []byte) {
	c.sniff(p, false)
	c.seen += int64(len(p))
	if c.binary {
		return
	}
	c.buf = c.strip.append(c.buf[:0], p)
	c.put(c.drawn(c.buf), false)
}

// end processes the held-back bytes at the end of the output.
func (c *capture) end() {
	if c.sniff(nil, true); !c.binary {
		text := c.drawn(c.strip.end(c.buf[:0]))
		if c.redraw != nil {
			text = c.redraw.flush(text)
		}
		c.put(text, true)
	}
}

// drawn returns text without overwritten lines.
func (c *capture) drawn(text []byte) []byte {
	if c.redraw == nil {
		return text
	}
	c.lines = c.redraw.append(c.lines[:0], text)
	return c.lines
}

func (c *capture) put(text []byte, last bool) {
	c.kept.write(text)
	if c.log != nil && len(text) > 0 {
		c.log(text)
	}
	if c.live == nil {
		return
	}
	if len(c.rest) > 0 {
		text = append(c.rest, text...)
	}
	n := len(text)
	if !last {
		n = whole(text)
	}
	if n > 0 {
		c.live(c.decoded(text[:n]))
	}
	c.rest = append([]byte(nil), text[n:]...)
}

// maxOdd bounds the non-ASCII output that determines the charset, and the output held back.
const maxOdd = 4096

// decoded returns the next part of the output, decoded by the charset detected so far.
func (c *capture) decoded(b []byte) string {
	ascii := !bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
	if !ascii && len(c.odd) < maxOdd {
		c.odd = append(c.odd, b...)
		if _, f, err := c.charsets.Decode(c.odd); err == nil {
			c.format = f
		}
	}
	if ascii || utf8.Valid(b) {
		return string(b)
	}
	return c.format.Part(b)
}

// readable returns all of an output.
func (c *capture) readable(text string) string {
	if !utf8.ValidString(text) {
		if decoded, _, err := c.charsets.Decode([]byte(text)); err == nil {
			return charset.Readable(decoded)
		}
	}
	return text
}

// whole returns the length of b without an incomplete character at its end. In an unknown charset,
// a blank ends each character.
func whole(b []byte) int {
	if all := text.Whole(b); utf8.Valid(all) || len(b) > maxOdd {
		return len(all)
	}
	return 1 + bytes.LastIndexFunc(b, func(r rune) bool { return r < '0' })
}

// sniff checks whether the first bytes show binary output. A few bytes do not suffice,
// unless they are the last.
func (c *capture) sniff(p []byte, last bool) {
	const few, enough = 512, 4096
	if c.binary || len(c.start) >= enough {
		return
	}
	c.start = append(c.start, p[:min(len(p), enough-len(c.start))]...)
	if len(c.start) < few && !last {
		return
	}
	if c.binary = isBinary(c.start); c.binary {
		c.put([]byte("[Receiving binary output...]\n"), true)
		c.kept = tail{max: c.kept.max}
	}
}

// isBinary reports whether data is no text, by its control characters. Text may hold names
// separated by NUL, and bytes of another encoding, but hardly both.
func isBinary(data []byte) bool {
	nul, control, broken := 0, 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			if utf8.FullRune(data[i:]) { // not only cut off
				broken++
			}
		case r == 0:
			nul++
		case r < 0x20 && (r < '\a' || r > '\r') && r != 0x1b:
			control++
		}
		i += n
	}
	return nul*2 > len(data) || control*3 > len(data) || broken > 0 && (nul+control)*20 > len(data)
}

// text returns the output as it is reported.
func (c *capture) text() string {
	if c.binary {
		return fmt.Sprintf("[Binary output of %d bytes, not shown]", c.seen)
	}
	text := trim(c.readable(c.kept.text()))
	if c.kept.cut && c.kept.max == maxOutput {
		text += truncated
	}
	return text
}

// trim removes blank lines before a text and white space behind it, but not the indentation
// of its first line.
func trim(text string) string {
	text = strings.TrimRight(text, " \t\r\n\v\f\x00")
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}

// A tail keeps the last max bytes written to it.
type tail struct {
	max int
	buf []byte // once it is full, the oldest byte is at start
	at  int
	cut bool
}

func (t *tail) write(p []byte) {
	if len(p) > t.max {
		t.cut = true
		p = p[len(p)-t.max:]
	}
	n := min(len(p), t.max-len(t.buf))
	t.buf = append(t.buf, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		t.cut = true
		n = copy(t.buf[t.at:], p)
		t.at = (t.at + n) % t.max
	}
}

// text returns the kept bytes, from the first whole character on.
func (t *tail) text() string {
	if !t.cut {
		return string(t.buf)
	}
	all := slices.Concat(t.buf[t.at:], t.buf[:t.at])
	for i := 0; i < utf8.UTFMax-1 && len(all) > 0 && !utf8.RuneStart(all[0]); i++ {
		all = all[1:]
	}
	return string(all)
}
