package line

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"gemline/repl/keymap"
)

// keys delivers the keys of a terminal to the goroutine that waits for the next key.
type keys struct {
	src *source

	mu      sync.Mutex
	change  sync.Cond
	active  bool // a line is being read
	waiting bool // for the terminal
	closed  bool
	ended   bool // the terminal is gone
	decoder decoder
}

func newKeys(src *source, m keymap.Map, pasted func(string) string) *keys {
	k := &keys{src: src, decoder: decoder{keymap: m, pasted: pasted}}
	k.change.L = &k.mu
	return k
}

// activate lets Read take input, or stops it: after activate(false) nothing reads the terminal.
func (k *keys) activate(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.active = on
	k.change.Broadcast()
	if on {
		return
	}
	k.src.waker.wake()
	for k.waiting {
		k.change.Wait()
	}
}

// expect says whether a lone ESC is a key, and whether lines that arrive together are a paste, also
// on a terminal without paste marks.
func (k *keys) expect(vi, unmarkedPaste bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.decoder.vi, k.decoder.unmarked.expected = vi, unmarkedPaste
}

// inject inserts s before all other input.
func (k *keys) inject(s string) {
	k.mu.Lock()
	k.decoder.queue = append([]byte(s), k.decoder.queue...)
	k.mu.Unlock()
	k.src.waker.wake()
}

// drop removes undelivered input, and returns its length in characters.
func (k *keys) drop() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.decoder.drop()
}

// cancelEnd removes each undelivered Ctrl-D, and reports whether there was one.
func (k *keys) cancelEnd() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, end := len(k.decoder.queue), []byte(string(opDeleteOrEnd))
	k.decoder.queue = bytes.ReplaceAll(k.decoder.queue, end, nil)
	return len(k.decoder.queue) < n
}

// unsent removes and returns undelivered text, with its line ends.
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
	}, string(k.decoder.queue))
	k.decoder.queue = nil
	return strings.TrimSpace(text)
}

// entered reports whether undelivered input has a whole line.
func (k *keys) entered() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.ContainsAny(k.decoder.queue, "\r\n")
}

// save sets undelivered input aside, until restore is called.
func (k *keys) save() (restore func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	queue := k.decoder.queue
	k.decoder.queue = nil
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.decoder.queue = append(queue, k.decoder.queue...)
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
	k.src.waker.wake()
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
		if len(k.decoder.queue) > 0 && !k.closed {
			key, n := utf8.DecodeRune(k.decoder.queue)
			k.decoder.queue = k.decoder.queue[n:]
			return key, nil
		}
		if k.ended || k.closed {
			return 0, io.EOF
		}
		limit := k.decoder.limit()
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
			k.decoder.timedOut()
		default:
			k.decoder.take(b)
		}
	}
}

// typed adds text that was typed between two reads and is no paste.
func (k *keys) typed(b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.decoder.typed(b)
}
