package loop

import (
	"hash/maphash"
	"strconv"
	"strings"
	"unicode"

	"gemline/engine/text"
)

// The numbers are the Gemini CLI's.
const (
	chunk       = 50   // characters that are compared
	mostChunks  = 10   // alike before it is a loop
	farApart    = 250  // characters between them, on average
	mostPeriods = 5    // different texts between them
	window      = 5000 // characters that are looked back
)

// patience is how many characters may repeat themselves where that may be what was asked
// for: rows of numbers, equal statements, refrains. A model that is stuck goes on to the
// limit of its answer.
const patience = 20_000

// slots is for how many digests there is room. One that takes the place of another costs
// one of the many chunks that a text which repeats itself has.
const (
	slotBits = 13
	slots    = 1 << slotBits
)

// mostRun is how many of one character in a row count: more are a line that divides, or
// room, unless there is no end of them.
const mostRun = 3

// base is that of the rolling digest of a chunk.
const base = 0x100000001b3

// leaving is base to the power of chunk-1: the weight of the character that leaves.
var leaving = func() uint64 {
	w := uint64(1)
	for range chunk - 1 {
		w *= base
	}
	return w
}()

// A chant looks for a text that repeats itself, in one that comes in pieces. The zero
// chant is ready for use.
type chant struct {
	lines  lines
	before rune  // the last character
	run    int   // how many of it
	held   *held // nil until there is a text
}

// held is the end of a text. What happened at a position stands at its rest by window.
type held struct {
	n      int // characters so far
	from   int // the first that counts
	began  int // where the present repetition was noticed first
	latest int // and last; 0 is never
	hash   uint64
	text   [window]rune
	hashes [window]uint64 // of the chunk that begins there
	prev   [window]int    // where the chunk that begins there began before, or less than 0
	last   [slots]int     // where a chunk of such a digest began last, and one
}

// add takes in a piece of the text, and returns what repeats, nil if nothing does.
func (c *chant) add(delta string) *Error {
	for _, r := range delta {
		fresh, ripe := c.lines.add(r)
		if fresh {
			c.forget()
		}
		for _, r := range ripe {
			if c.run++; r != c.before {
				c.before, c.run = r, 1
			}
			if c.run > mostRun && c.run <= longestDivider {
				continue
			}
			if c.held == nil {
				c.held = &held{}
			}
			if c.held.add(r) {
				excerpt := text.OneLine(c.held.since(chunk), chunk)
				return &Error{text: true, What: "the answer says again and again " + strconv.Quote(excerpt),
					detail: `Repeating content detected: "` + excerpt + `..."`}
			}
		}
	}
	return nil
}

// forget begins anew within an answer.
func (c *chant) forget() {
	if c.held != nil {
		c.held.from = c.held.n
	}
}

// end begins anew with another answer.
func (c *chant) end() {
	c.forget()
	c.lines = lines{}
}

// add takes in a character, and reports whether the text repeats itself.
func (h *held) add(r rune) bool {
	if h.n >= chunk {
		h.hash -= uint64(h.text[(h.n-chunk)%window]) * leaving
	}
	h.hash = h.hash*base + uint64(r)
	h.text[h.n%window] = r
	h.n++
	start := h.n - chunk
	if start < 0 {
		return false
	}
	slot := &h.last[h.hash>>(64-slotBits)]
	before := *slot - 1
	if before < 0 || before <= h.n-window || h.hashes[before%window] != h.hash {
		before = -1
	}
	*slot, h.hashes[start%window], h.prev[start%window] = start+1, h.hash, before
	return before >= h.from && h.repeats(start) && h.stuck(start, before)
}

// stuck reports whether a repetition, of which the last rounds begin at two positions, can't
// be what was asked for: it is talk in one line, or goes on for long.
func (h *held) stuck(start, before int) bool {
	if h.latest == 0 || h.n-h.latest > farApart || h.began < h.from {
		h.began = h.n
	}
	h.latest = h.n
	return h.talk(before, start) || h.n-h.began > patience
}

// talk reports whether the text between two positions is words in one line.
func (h *held) talk(from, to int) bool {
	letters := 0
	for p := from; p < to; p++ {
		switch r := h.text[p%window]; {
		case r == '\n':
			return false
		case unicode.IsLetter(r):
			letters++
		}
	}
	return 2*letters > to-from
}

// repeats reports whether the chunk at a position is one too many.
func (h *held) repeats(start int) bool {
	first := max(h.from, h.n-window)
	var at [mostChunks]int // the last comes first
	n := 0
	for p := start; p >= first && n < mostChunks; p = h.prev[p%window] {
		at[n] = p
		n++
	}
	if n < mostChunks || (at[0]-at[mostChunks-1])/(mostChunks-1) > farApart {
		return false
	}
	for _, p := range at[1:] {
		for i := range chunk {
			if h.text[(p+i)%window] != h.text[(start+i)%window] {
				return false
			}
		}
	}
	var periods []uint64
	for i, p := range at[1:] {
		d := h.digest(p, at[i])
		known := false
		for _, o := range periods {
			known = known || o == d
		}
		if !known {
			periods = append(periods, d)
		}
	}
	return len(periods) <= mostPeriods
}

var seed = maphash.MakeSeed()

// digest tells the text between two positions from others.
func (h *held) digest(from, to int) uint64 {
	var m maphash.Hash
	m.SetSeed(seed)
	for ; from < to; from++ {
		r := h.text[from%window]
		m.WriteByte(byte(r))
		m.WriteByte(byte(r >> 8))
		m.WriteByte(byte(r >> 16))
	}
	return m.Sum64()
}

// since returns the last n characters.
func (h *held) since(n int) string {
	var b strings.Builder
	for p := max(0, h.n-n); p < h.n; p++ {
		b.WriteRune(h.text[p%window])
	}
	return b.String()
}
