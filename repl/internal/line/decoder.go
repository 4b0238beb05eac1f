package line

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"
	"gemline/repl/keymap"
)

// A decoder converts a terminal's input into keys: characters and ops. It keeps a paste together.
type decoder struct {
	keymap keymap.Map               // the user's
	pasted func(text string) string // returns its placeholder in the line
	vi     bool                     // a lone ESC is a key

	queue   []byte // keys that were not delivered yet
	rest    []byte // a sequence without its end
	pasting bool
	paste   []byte

	unmarked unmarkedPaste
}

// An unmarkedPaste is a paste without marks of the terminal. Its lines arrive together, faster than
// anybody types.
type unmarkedPaste struct {
	expected bool   // lines that arrive together are a paste
	enter    bool   // an Enter waits for more bytes of a paste
	coming   bool   // more of the paste may come
	text     []byte // its bytes so far
}

// entered reports whether the paste ends with an Enter.
func (u unmarkedPaste) entered() bool {
	return u.coming && len(u.text) > 0 && strings.ContainsRune("\r\n", rune(u.text[len(u.text)-1]))
}

const (
	pasteEnd = "\x1b[201~"

	// Milliseconds after which an incomplete escape sequence counts as complete; fewer in vi mode,
	// where ESC alone is a key.
	escapeDelay   = 500
	viEscapeDelay = 50

	// ctrlC is Ctrl-C.
	ctrlC = 3

	// mostPasted is the most bytes of a paste that are read.
	mostPasted = 64 << 20
)

// drop removes undelivered input, and returns its length in characters.
func (d *decoder) drop() int {
	n := utf8.RuneCount(d.queue) + utf8.RuneCount(d.rest) + utf8.RuneCount(d.paste) + utf8.RuneCount(d.unmarked.text)
	for _, op := range []rune{opShow, opResume, opStop} { // the user did not type these
		n -= bytes.Count(d.queue, []byte(string(op)))
	}
	if d.unmarked.enter {
		n++
	}
	d.queue, d.rest, d.paste, d.pasting = nil, nil, nil, false
	d.unmarked = unmarkedPaste{expected: d.unmarked.expected}
	return n
}

// typed adds text that was typed between two reads and is no paste.
func (d *decoder) typed(b []byte) {
	for len(b) > 0 {
		if b[0] == 0 { // the stored form of Ctrl-D
			d.press(opDeleteOrEnd)
			b = b[1:]
			continue
		}
		n := d.takeKey(b)
		if n == 0 {
			d.rest = bytes.Clone(b)
			return
		}
		b = b[n:]
	}
}

// limit returns the timeout for the rest of a sequence.
func (d *decoder) limit() int {
	switch {
	case d.unmarked.entered():
		return int(pasteSent.Milliseconds())
	case d.unmarked.coming:
		return int(pasteLag.Milliseconds())
	case d.unmarked.enter:
		return int(pasteGap.Milliseconds())
	case len(d.rest) == 0 || d.pasting || d.rest[0] != 0x1b:
		return -1
	case d.vi:
		return viEscapeDelay
	}
	return escapeDelay
}

// timedOut treats an incomplete sequence as complete.
func (d *decoder) timedOut() {
	if d.unmarked.coming || d.unmarked.enter {
		if d.unmarked.entered() {
			d.unmarked.text, d.unmarked.enter = d.unmarked.text[:len(d.unmarked.text)-1], true
		}
		d.endUnmarkedPaste()
		return
	}
	if string(d.rest) == "\x1b" {
		op := opEscape
		if command := d.keymap.Command("escape", keymap.Cancel); command != keymap.Cancel {
			op = commandOps[command]
		}
		d.press(op)
	}
	d.rest = nil
}

// press queues an op.
func (d *decoder) press(op rune) {
	if op != 0 {
		d.queue = utf8.AppendRune(d.queue, op)
	}
}

// take decodes input of the terminal.
func (d *decoder) take(b []byte) {
	if d.pasting && string(b) == "\x03" { // Ctrl-C alone: the end of the paste was lost
		d.paste, d.rest, d.pasting = nil, nil, false
	}
	b = append(d.rest, b...)
	d.rest = nil
	if !d.pasting && d.takeUnmarkedPaste(b) {
		return
	}
	if !d.pasting && longLine(b) {
		n := len(bytes.TrimRight(b, "\r\n"))
		whole := text.Whole(b[:n])
		d.insert(whole)
		if n < len(b) {
			d.pressEnter()
		} else {
			d.rest = bytes.Clone(b[len(whole):])
		}
		return
	}
	for len(b) > 0 {
		var n int
		if !d.pasting && len(b) == 1 && (b[0] == '\r' || b[0] == '\n') && !d.binds(b) {
			d.pressEnter()
			return
		}
		if d.pasting {
			n = d.takePaste(b)
		} else {
			n = d.takeKey(b)
		}
		if n == 0 {
			d.rest = bytes.Clone(b)
			return
		}
		b = b[n:]
	}
}

// pressEnter adds the Enter at the end of the input. If it belongs to a paste, more input follows
// at once.
func (d *decoder) pressEnter() {
	if d.unmarked.expected {
		d.unmarked.enter = true
		return
	}
	d.queue = append(d.queue, '\r')
}

// takeUnmarkedPaste adds b to an unmarked paste, if b is a part of one: nobody types lines that
// fast.
func (d *decoder) takeUnmarkedPaste(b []byte) bool {
	if !d.unmarked.coming && !d.unmarked.enter && !(d.unmarked.expected && linesTogether(b)) {
		return false
	}
	if len(b) == 0 || bytes.ContainsFunc(b, isKey) {
		d.endUnmarkedPaste()
		return false
	}
	if d.unmarked.enter {
		d.unmarked.text = append(d.unmarked.text, '\n')
	}
	d.unmarked.enter, d.unmarked.coming = false, true
	d.unmarked.text = append(d.unmarked.text, b[:min(len(b), max(0, mostPasted-len(d.unmarked.text)))]...)
	return true
}

// endUnmarkedPaste ends an unmarked paste, or delivers a lone Enter as a key.
func (d *decoder) endUnmarkedPaste() {
	if d.unmarked.coming {
		d.insert(d.unmarked.text)
	}
	if d.unmarked.enter {
		d.queue = append(d.queue, '\r')
	}
	d.unmarked = unmarkedPaste{expected: d.unmarked.expected}
}

// isKey reports whether r is no part of a text.
func isKey(r rune) bool { return r < ' ' && r != '\r' && r != '\n' && r != '\t' || r == 0x7f }

// takePaste takes the part of b that belongs to the paste, and returns its
// length.
func (d *decoder) takePaste(b []byte) int {
	if i := bytes.Index(b, []byte(pasteEnd)); i >= 0 {
		text := append(d.paste, b[:i]...)
		d.paste, d.pasting = nil, false
		d.insert(text)
		return i + len(pasteEnd)
	}
	n := len(b)
	for i := max(0, n-len(pasteEnd)+1); i < n; i++ { // an incomplete end mark
		if strings.HasPrefix(pasteEnd, string(b[i:])) {
			n = i
			break
		}
	}
	d.paste = append(d.paste, b[:min(n, max(0, mostPasted-len(d.paste)))]...)
	return n
}

// takeKey takes the first key of b and returns its length, 0 if it is not
// complete.
func (d *decoder) takeKey(b []byte) int {
	if n, op, ok := d.bound(b); ok {
		d.press(op)
		return n
	}
	switch {
	case b[0] == 0x1b:
		n, key := sequence(b, d.vi)
		if key == opPaste {
			d.pasting = true
		} else {
			d.press(key)
		}
		return n
	case b[0] == 0x18: // Ctrl-X and another key
		if len(b) < 2 {
			return 0
		}
		switch b[1] {
		case 0x03, 0x1b:
			return 1
		case 0x05:
			d.press(opEdit)
		case 0x15:
			d.press(opUndo)
		}
		return 2
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case isOpOrMark(r), r >= 0x80 && r < 0xa0:
	case r < 0x20 || r == 0x7f:
		d.control(r)
	default:
		d.queue = utf8.AppendRune(d.queue, r)
	}
	return n
}

// control decodes a control character. It drops characters without a meaning.
func (d *decoder) control(r rune) {
	if r == '\r' || r == '\n' || r == ctrlC {
		d.queue = append(d.queue, byte(r))
		return
	}
	ops := [0x20]rune{0x01: opHome, 0x02: opLeft, 0x04: opDeleteOrEnd, 0x05: opEnd, 0x06: opRight, 0x07: opAbort,
		0x08: opRubout, 0x09: opComplete, 0x0b: opKillRight, 0x0c: opRedraw, 0x0e: opNext, 0x10: opPrev,
		0x12: opSearch, 0x13: opSearchOn, 0x14: opTranspose, 0x15: opKillLeft, 0x17: opRuboutWord,
		0x19: opYank, 0x1a: opStop, 0x1f: opUndo}
	if r == 0x7f {
		r = 0x08
	}
	d.press(ops[r])
}

// linesTogether reports whether b has more bytes after an Enter.
func linesTogether(b []byte) bool {
	i := bytes.IndexAny(b, "\r\n")
	return i >= 0 && i < len(bytes.TrimRight(b, "\r\n")) && !bytes.ContainsFunc(b, isKey)
}

// longLine reports whether b is one line that is too long to be typed. As single keys it would be
// drawn once for each key.
func longLine(b []byte) bool {
	line := bytes.TrimRight(b, "\r\n")
	return len(line) > longPaste && !bytes.ContainsFunc(line, isKey)
}

func (d *decoder) insert(b []byte) {
	d.queue = append(d.queue, d.pasted(harmless(b))...)
}

// harmless returns the text of a paste, which is never keys.
func harmless(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || isOpOrMark(r) {
			return -1
		}
		return r
	}, s)
}
