package line

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"gemline/repl/keymap"
)

// keys makes keys of what a terminal sends: characters and ops. A paste stays together.
type keys struct {
	src    *source
	pasted func(text string) string // returns what stands in the line for it
	keymap keymap.Map               // the user's

	mu      sync.Mutex
	change  sync.Cond
	active  bool // somebody reads a line
	waiting bool // for the terminal
	vi      bool // ESC is a key of its own
	closed  bool
	ended   bool   // the terminal is gone
	queue   []byte // keys that were not handed out
	rest    []byte // a sequence whose end has not come yet
	pasting bool
	paste   []byte

	unmarked unmarkedPaste
}

// An unmarkedPaste is a paste that the terminal does not mark: its lines come together,
// faster than anybody types.
type unmarkedPaste struct {
	expected bool   // such lines are a paste
	enter    bool   // an Enter waits for what may come with it
	coming   bool   // more of the paste may come
	text     []byte // what has come of it
}

// entered reports whether the paste ends with an Enter.
func (u unmarkedPaste) entered() bool {
	return u.coming && len(u.text) > 0 && strings.ContainsRune("\r\n", rune(u.text[len(u.text)-1]))
}

func newKeys(src *source, pasted func(string) string) *keys {
	k := &keys{src: src, pasted: pasted}
	k.change.L = &k.mu
	return k
}

const (
	pasteEnd = "\x1b[201~"

	// Milliseconds after which an incomplete escape sequence counts as
	// complete; shorter for vi's keys, where ESC alone is a key.
	escapeDelay   = 500
	viEscapeDelay = 50

	// ctrlC is Ctrl-C.
	ctrlC = 3

	// mostPasted is the most bytes taken of a paste.
	mostPasted = 64 << 20
)

// activate lets Read take input, or stops it from doing so: then the terminal
// is left alone when it returns.
func (k *keys) activate(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.active = on
	k.change.Broadcast()
	if on {
		return
	}
	k.src.wake()
	for k.waiting {
		k.change.Wait()
	}
}

// setVi says whether ESC is a key of its own.
func (k *keys) setVi(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.vi = on
}

// expectUnmarkedPaste says whether lines that come together are a paste, also where the
// terminal does not mark one.
func (k *keys) expectUnmarkedPaste(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unmarked.expected = on
}

// inject puts s before everything else.
func (k *keys) inject(s string) {
	k.mu.Lock()
	k.queue = append([]byte(s), k.queue...)
	k.mu.Unlock()
	k.src.wake()
}

// drop removes what was read and not yet handed out, and returns its length in
// characters.
func (k *keys) drop() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := utf8.RuneCount(k.queue) + utf8.RuneCount(k.rest) + utf8.RuneCount(k.paste) + utf8.RuneCount(k.unmarked.text)
	for _, op := range []rune{opShow, opResume, opStop} { // which nobody typed
		n -= bytes.Count(k.queue, []byte(string(op)))
	}
	if k.unmarked.enter {
		n++
	}
	k.queue, k.rest, k.paste, k.pasting = nil, nil, nil, false
	k.unmarked = unmarkedPaste{expected: k.unmarked.expected}
	return n
}

// unsent takes the text of what was read and not yet handed out, with the ends
// of its lines.
func (k *keys) unsent() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case isOp(r), isKey(r):
			return -1
		}
		return r
	}, string(k.queue))
	k.queue = nil
	return strings.TrimSpace(text)
}

// entered reports whether a whole line was read and not yet handed out.
func (k *keys) entered() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.ContainsAny(k.queue, "\r\n")
}

// save puts aside what was read and not yet handed out, until restore is called.
func (k *keys) save() (restore func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	queue := k.queue
	k.queue = nil
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.queue = append(queue, k.queue...)
	}
}

// over reports whether there are no more keys.
func (k *keys) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended || k.closed
}

// Close implements [io.Closer]: next returns io.EOF from now on.
func (k *keys) Close() error {
	k.mu.Lock()
	k.closed = true
	k.change.Broadcast()
	k.mu.Unlock()
	k.src.wake()
	return nil
}

// next waits for a key and returns it; io.EOF at the end of the input.
func (k *keys) next() (rune, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		for !k.active && !k.closed {
			k.change.Wait()
		}
		if len(k.queue) > 0 && !k.closed {
			key, n := utf8.DecodeRune(k.queue)
			k.queue = k.queue[n:]
			return key, nil
		}
		if k.ended || k.closed {
			return 0, io.EOF
		}
		limit := k.limit()
		k.waiting = true
		k.mu.Unlock()
		b, err := k.src.wait(limit)
		k.mu.Lock()
		k.waiting = false
		k.change.Broadcast()
		switch {
		case err == errWoken:
		case err != nil:
			k.ended = true
		case b == nil:
			k.timedOut()
		default:
			k.take(b)
		}
	}
}

// limit returns how long to wait for the rest of a sequence.
func (k *keys) limit() int {
	switch {
	case k.unmarked.entered():
		return int(pasteSent.Milliseconds())
	case k.unmarked.coming:
		return int(pasteLag.Milliseconds())
	case k.unmarked.enter:
		return int(pasteGap.Milliseconds())
	case len(k.rest) == 0 || k.pasting || k.rest[0] != 0x1b:
		return -1
	case k.vi:
		return viEscapeDelay
	}
	return escapeDelay
}

// timedOut treats an incomplete sequence as complete.
func (k *keys) timedOut() {
	if k.unmarked.coming || k.unmarked.enter {
		if k.unmarked.entered() {
			k.unmarked.text, k.unmarked.enter = k.unmarked.text[:len(k.unmarked.text)-1], true
		}
		k.endUnmarkedPaste()
		return
	}
	if string(k.rest) == "\x1b" {
		op := opEscape
		if command := k.keymap.Command("escape", keymap.Cancel); command != keymap.Cancel {
			op = commandOps[command]
		}
		k.press(op)
	}
	k.rest = nil
}

// press queues an op.
func (k *keys) press(op rune) {
	if op != 0 {
		k.queue = utf8.AppendRune(k.queue, op)
	}
}

// take sorts what the terminal sent.
func (k *keys) take(b []byte) {
	if k.pasting && string(b) == "\x03" { // alone, so the end of the paste was lost
		k.paste, k.rest, k.pasting = nil, nil, false
	}
	b = append(k.rest, b...)
	k.rest = nil
	if !k.pasting && k.takeUnmarkedPaste(b) {
		return
	}
	if !k.pasting && longLine(b) {
		n := len(bytes.TrimRight(b, "\r\n"))
		whole := fullRunes(b[:n])
		k.insert(b[:whole])
		if n < len(b) {
			k.pressEnter()
		} else {
			k.rest = bytes.Clone(b[whole:])
		}
		return
	}
	for len(b) > 0 {
		var n int
		if !k.pasting && len(b) == 1 && (b[0] == '\r' || b[0] == '\n') && !k.binds(b) {
			k.pressEnter()
			return
		}
		if k.pasting {
			n = k.takePaste(b)
		} else {
			n = k.takeKey(b)
		}
		if n == 0 {
			k.rest = bytes.Clone(b)
			return
		}
		b = b[n:]
	}
}

// pressEnter takes the Enter at the end of what has come. If it belongs to a
// paste, more comes at once.
func (k *keys) pressEnter() {
	if k.unmarked.expected {
		k.unmarked.enter = true
		return
	}
	k.queue = append(k.queue, '\r')
}

// takeUnmarkedPaste takes b if it is part of a paste that the terminal does not mark:
// nobody types lines that fast.
func (k *keys) takeUnmarkedPaste(b []byte) bool {
	if !k.unmarked.coming && !k.unmarked.enter && !(k.unmarked.expected && linesTogether(b)) {
		return false
	}
	if len(b) == 0 || bytes.ContainsFunc(b, isKey) {
		k.endUnmarkedPaste()
		return false
	}
	if k.unmarked.enter {
		k.unmarked.text = append(k.unmarked.text, '\n')
	}
	k.unmarked.enter, k.unmarked.coming = false, true
	k.unmarked.text = append(k.unmarked.text, b[:min(len(b), max(0, mostPasted-len(k.unmarked.text)))]...)
	return true
}

// endUnmarkedPaste treats an unmarked paste as complete, and a lone Enter as a key.
func (k *keys) endUnmarkedPaste() {
	if k.unmarked.coming {
		k.insert(k.unmarked.text)
	}
	if k.unmarked.enter {
		k.queue = append(k.queue, '\r')
	}
	k.unmarked = unmarkedPaste{expected: k.unmarked.expected}
}

// isKey reports whether r is no part of a text.
func isKey(r rune) bool { return r < ' ' && r != '\r' && r != '\n' && r != '\t' || r == 0x7f }

// takePaste takes the part of b that belongs to the paste, and returns its
// length.
func (k *keys) takePaste(b []byte) int {
	if i := bytes.Index(b, []byte(pasteEnd)); i >= 0 {
		text := append(k.paste, b[:i]...)
		k.paste, k.pasting = nil, false
		k.insert(text)
		return i + len(pasteEnd)
	}
	n := len(b)
	for i := max(0, n-len(pasteEnd)+1); i < n; i++ { // an end that is cut
		if strings.HasPrefix(pasteEnd, string(b[i:])) {
			n = i
			break
		}
	}
	k.paste = append(k.paste, b[:min(n, max(0, mostPasted-len(k.paste)))]...)
	return n
}

// takeKey takes the first key of b and returns its length, 0 if it is not
// complete.
func (k *keys) takeKey(b []byte) int {
	if n, op, ok := k.bound(b); ok {
		k.press(op)
		return n
	}
	switch {
	case b[0] == 0x1b:
		n, key := sequence(b, k.vi)
		if key == opPaste {
			k.pasting = true
		} else {
			k.press(key)
		}
		return n
	case b[0] == 0x18: // Ctrl-X and another
		if len(b) < 2 {
			return 0
		}
		switch b[1] {
		case 0x03:
			return 1
		case 0x05:
			k.press(opEdit)
		case 0x15:
			k.press(opUndo)
		}
		return 2
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1, ours(r), r >= 0x80 && r < 0xa0:
	case r < 0x20 || r == 0x7f:
		k.control(r)
	default:
		k.queue = append(k.queue, b[:n]...)
	}
	return n
}

// control takes a control character. Those without a meaning are dropped.
func (k *keys) control(r rune) {
	if r == '\r' || r == '\n' || r == ctrlC {
		k.queue = append(k.queue, byte(r))
		return
	}
	ops := [0x20]rune{0x01: opHome, 0x02: opLeft, 0x04: opDeleteOrEnd, 0x05: opEnd, 0x06: opRight, 0x07: opAbort,
		0x08: opRubout, 0x09: opComplete, 0x0b: opKillRight, 0x0c: opRedraw, 0x0e: opNext, 0x10: opPrev,
		0x12: opSearch, 0x13: opSearchOn, 0x14: opTranspose, 0x15: opKillLeft, 0x17: opRuboutWord,
		0x19: opYank, 0x1a: opStop, 0x1f: opUndo}
	if r == 0x7f {
		r = 0x08
	}
	k.press(ops[r])
}

// typed takes what was typed while nobody read, and was no paste.
func (k *keys) typed(b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(b) > 0 {
		if b[0] == 0 { // what the terminal makes of Ctrl-D
			k.press(opDeleteOrEnd)
			b = b[1:]
			continue
		}
		n := k.takeKey(b)
		if n == 0 {
			k.rest = bytes.Clone(b)
			return
		}
		b = b[n:]
	}
}

// linesTogether reports whether b holds more behind an Enter.
func linesTogether(b []byte) bool {
	i := bytes.IndexAny(b, "\r\n")
	return i >= 0 && i < len(bytes.TrimRight(b, "\r\n")) && !bytes.ContainsFunc(b, isKey)
}

// longLine reports whether b is more than anybody types, on one line: key by key
// it would be drawn that often.
func longLine(b []byte) bool {
	line := bytes.TrimRight(b, "\r\n")
	return len(line) > longPaste && !bytes.ContainsFunc(line, isKey)
}

// fullRunes returns how much of b does not belong to a character whose end has
// not come.
func fullRunes(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

func (k *keys) insert(b []byte) {
	k.queue = append(k.queue, k.pasted(harmless(b))...)
}

// harmless returns the text of a paste, which is never keys.
func harmless(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || ours(r) {
			return -1
		}
		return r
	}, s)
}
