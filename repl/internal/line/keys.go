package line

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// keys stands between the terminal and readline. It understands what
// terminals send, hands readline only what it can deal with, and keeps a
// paste together.
type keys struct {
	src    *source
	pasted func(text string) string // returns what stands in the line for it

	mu      sync.Mutex
	change  sync.Cond
	active  bool // somebody reads a line
	closed  bool
	ended   bool   // the terminal is gone
	queue   []byte // for readline
	rest    []byte // a sequence whose end has not come yet
	pasting bool
	paste   []byte
}

func newKeys(src *source, pasted func(string) string) *keys {
	k := &keys{src: src, pasted: pasted}
	k.change.L = &k.mu
	return k
}

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"

	escapeDelay = 50 // milliseconds after which a lone ESC is a key
)

// activate lets Read take input, or stops it from doing so.
func (k *keys) activate(on bool) {
	k.mu.Lock()
	k.active = on
	k.change.Broadcast()
	k.mu.Unlock()
	if !on {
		k.src.wake()
	}
}

// inject puts s before everything else.
func (k *keys) inject(s string) {
	k.mu.Lock()
	k.queue = append([]byte(s), k.queue...)
	k.mu.Unlock()
	k.src.wake()
}

// forget drops what was read and not yet handed out, and returns its length in
// characters.
func (k *keys) forget() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := utf8.RuneCount(k.queue) + utf8.RuneCount(k.rest) + utf8.RuneCount(k.paste)
	k.queue, k.rest, k.paste, k.pasting = nil, nil, nil, false
	return n
}

// over reports whether readline was told of the end.
func (k *keys) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended || k.closed
}

// Close implements [io.Closer]: Read returns io.EOF from now on.
func (k *keys) Close() error {
	k.mu.Lock()
	k.closed = true
	k.change.Broadcast()
	k.mu.Unlock()
	k.src.wake()
	return nil
}

// Read implements [io.Reader] for readline. It returns no more than one line,
// since readline would keep the rest to itself.
func (k *keys) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		for !k.active && !k.closed {
			k.change.Wait()
		}
		if len(k.queue) > 0 && !k.closed {
			n := upToEnter(k.queue, len(p))
			copy(p, k.queue[:n])
			k.queue = k.queue[n:]
			return n, nil
		}
		if k.ended || k.closed {
			return 0, io.EOF
		}
		limit := -1
		if len(k.rest) > 0 && !k.pasting {
			limit = escapeDelay
		}
		k.mu.Unlock()
		b, err := k.src.wait(limit)
		k.mu.Lock()
		switch {
		case err == errWoken:
		case err != nil:
			k.queue = append(k.queue, "\x05\x15"...) // go to the end, delete all: half a line is none
			k.ended = true
		case b == nil:
			k.rest = nil
		default:
			k.take(b)
		}
	}
}

// upToEnter returns how many of at most limit bytes end with a key that may
// end a line, or do not cut a character.
func upToEnter(q []byte, limit int) int {
	n := min(len(q), limit)
	for i, c := range q[:n] {
		if c == '\r' || c == '\n' || c == 3 || c == 4 {
			return i + 1
		}
	}
	for i := n; i > max(0, n-utf8.UTFMax) && n < len(q); i-- {
		if utf8.RuneStart(q[i]) {
			return i
		}
	}
	return n
}

// take sorts what the terminal sent.
func (k *keys) take(b []byte) {
	b = append(k.rest, b...)
	k.rest = nil
	if !k.pasting && unmarked(b) {
		k.insert(b)
		return
	}
	if !k.pasting && flood(b) {
		n := len(bytes.TrimRight(b, "\r\n"))
		whole := fullRunes(b[:n])
		k.insert(b[:whole])
		if n < len(b) {
			k.queue = append(k.queue, '\r')
		} else {
			k.rest = bytes.Clone(b[whole:])
		}
		return
	}
	for len(b) > 0 {
		var n int
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
	k.paste = append(k.paste, b[:n]...)
	return n
}

// takeKey takes the first key of b and returns its length, 0 if it is not
// complete.
func (k *keys) takeKey(b []byte) int {
	if b[0] == 0x1b {
		n, key := sequence(b)
		if key == pasteBegin {
			k.pasting = true
		} else {
			k.queue = append(k.queue, key...)
		}
		return n
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1, ours(r), r >= 0x80 && r < 0xa0:
	case r < 0x20 && !strings.ContainsRune("\x01\x02\x03\x04\x05\x06\x08\n\x0b\r\x0e\x10\x14\x15\x17\x19", r):
		// what readline would do with these is not safe: searching and
		// completing draw menus, stopping stops the parent
	default:
		k.queue = append(k.queue, b[:n]...)
	}
	return n
}

// unmarked reports whether b looks like a paste from a terminal that does not
// mark one: nobody types lines that fast.
func unmarked(b []byte) bool {
	if len(b) < 8 || bytes.IndexByte(b, 0x1b) >= 0 {
		return false
	}
	i := bytes.IndexAny(b, "\r\n")
	return i >= 0 && i < len(bytes.TrimRight(b, "\r\n"))
}

// flood reports whether b is more than anybody types, on one line: readline
// takes far too long over it if it gets it key by key.
func flood(b []byte) bool {
	line := bytes.TrimRight(b, "\r\n")
	return len(line) > longPaste && bytes.IndexFunc(line, func(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f }) < 0
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

// sequence returns the length of the escape sequence that b begins with and
// the key that readline is given for it; a length of 0 if it is not complete.
func sequence(b []byte) (n int, key string) {
	if len(b) < 2 {
		return 0, ""
	}
	switch b[1] {
	case '[':
		return control(b)
	case 'O':
		if len(b) < 3 {
			return 0, ""
		}
		return 3, movement(b[2], "")
	case ']', 'P', '_', '^', 'X': // a terminal's report, up to BEL or ST
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1, ""
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2, ""
			}
		}
		if len(b) > 4096 {
			return len(b), ""
		}
		return 0, ""
	case 'b', 'f', 'd', 0x7f:
		return 2, string(b[:2])
	case '\r', '\n': // Alt-Enter
		return 2, string(newlineMark)
	case 0x1b:
		return 1, ""
	}
	return 2, ""
}

// control reads a sequence that begins with ESC [.
func control(b []byte) (n int, key string) {
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		i++
	}
	if i == len(b) {
		if i > 64 {
			return i, ""
		}
		return 0, ""
	}
	args, final := string(b[2:i]), b[i]
	i++
	if final == 'M' && args == "" { // a mouse, with three bytes more
		if len(b) < i+3 {
			return 0, ""
		}
		return i + 3, ""
	}
	if final == '~' {
		switch args {
		case "1", "7":
			return i, "\x01"
		case "4", "8":
			return i, "\x05"
		case "3":
			return i, "\x1b[3~"
		case "200":
			return i, pasteBegin
		}
		return i, ""
	}
	return i, movement(final, args)
}

// movement returns the control key that moves as an arrow, Home or End does.
func movement(final byte, args string) string {
	_, modifier, _ := strings.Cut(args, ";")
	if m, err := strconv.Atoi(modifier); err == nil && m > 1 {
		switch final {
		case 'C':
			return "\x1bf"
		case 'D':
			return "\x1bb"
		}
	}
	switch final {
	case 'A':
		return "\x10"
	case 'B':
		return "\x0e"
	case 'C':
		return "\x06"
	case 'D':
		return "\x02"
	case 'H':
		return "\x01"
	case 'F':
		return "\x05"
	}
	return ""
}
