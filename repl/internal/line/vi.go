package line

import (
	"slices"
	"unicode"
)

// A vi is the command mode of vi's keys: it applies one character at a time to a buffer.
type vi struct {
	command bool // otherwise characters are inserted

	count    int  // typed before the command, 0 for none
	operator rune // d, c or y, which wait for a movement, or 0
	times    int  // the count before the operator
	waiting  rune // f, F, t, T or r, which wait for a character, or 0

	found, sought rune // the last of f, F, t and T, and its character
}

// most is the largest count.
const most = 9999

// insertMode begins a line, in which characters are inserted.
func (v *vi) insertMode() { *v = vi{found: v.found, sought: v.sought} }

// escape leaves insert mode, or cancels an incomplete command.
func (v *vi) escape(b *buffer) {
	if !v.command {
		b.pos = b.left(b.pos)
	}
	b.typing, b.killing = false, false
	*v = vi{command: true, found: v.found, sought: v.sought}
}

// key applies a character of command mode. It returns an op if the command needs more than the
// line, otherwise 0.
func (v *vi) key(b *buffer, r rune) (op rune) {
	if v.waiting != 0 {
		v.await(b, r)
		return 0
	}
	if r >= '1' && r <= '9' || r == '0' && v.count > 0 {
		v.count = min(v.count*10+int(r-'0'), most)
		return 0
	}
	if slices.Contains([]rune("fFtTr"), r) {
		v.waiting = r
		return 0
	}
	if v.operator != 0 {
		v.operate(b, r)
		return 0
	}
	n := max(1, v.count)
	if r == 'd' || r == 'c' || r == 'y' {
		v.operator, v.times, v.count = r, v.count, 0
		return 0
	}
	if to, _, ok := v.target(b, r, n); ok {
		b.pos = to
		v.done(b)
		return 0
	}
	v.count = 0
	return v.act(b, r, n)
}

// act carries out a command that is not a movement.
func (v *vi) act(b *buffer, r rune, n int) (op rune) {
	b.killing = false
	switch r {
	case 'x':
		b.kill(b.pos, v.along(b, n))
	case 'X':
		b.kill(b.pos, v.back(b, n))
	case 'D':
		b.kill(b.pos, len(b.text))
	case 'C':
		b.kill(b.pos, len(b.text))
		v.insertMode()
	case 's':
		b.kill(b.pos, v.along(b, n))
		v.insertMode()
	case 'S':
		b.kill(0, len(b.text))
		v.insertMode()
	case 'Y':
		b.killed = slices.Clone(b.text)
	case 'p', 'P':
		v.paste(b, r == 'p', n)
	case '~':
		v.swapCase(b, n)
	case 'u':
		for range n {
			b.undo()
		}
	case 'i':
		v.insertMode()
	case 'I':
		b.pos = 0
		v.insertMode()
	case 'a':
		b.pos = b.right(b.pos)
		v.insertMode()
	case 'A':
		b.pos = len(b.text)
		v.insertMode()
	case 'k', '-':
		return opPrev
	case 'j', '+':
		return opNext
	case '/', '?':
		return opSearch
	case 'v':
		return opEdit
	}
	if v.command {
		v.done(b)
	}
	return 0
}

// done ends a command: the cursor stands on a character.
func (v *vi) done(b *buffer) {
	b.typing, b.killing = false, false
	v.count, v.operator, v.times, v.waiting = 0, 0, 0, 0
	if len(b.text) > 0 && b.pos >= len(b.text) {
		b.pos = b.left(len(b.text))
	}
}

// operate applies the operator up to the target of the movement r.
func (v *vi) operate(b *buffer, r rune) {
	op, n := v.operator, max(1, v.times)*max(1, v.count)
	from, to, inclusive := b.pos, 0, false
	switch {
	case r == op: // the whole line
		from, to = 0, len(b.text)
	case op == 'c' && (r == 'w' || r == 'W') && b.pos < len(b.text) && !isBlank(b.text[b.pos]):
		to = v.wordEnds(b, n, r == 'W', true)
	default:
		var ok bool
		if to, inclusive, ok = v.target(b, r, n); !ok {
			v.done(b)
			return
		}
	}
	v.apply(b, op, from, to, inclusive)
}

// apply applies op to the text between two positions.
func (v *vi) apply(b *buffer, op rune, from, to int, inclusive bool) {
	if inclusive && to >= from {
		to = b.right(to)
	}
	b.killing = false
	if op == 'y' {
		b.killed = slices.Clone(b.text[min(from, to):max(from, to)])
		b.pos = min(from, to)
	} else {
		b.kill(from, to)
	}
	v.done(b)
	if op == 'c' {
		b.pos = min(from, to)
		v.insertMode()
	}
}

// await handles the character that a command has waited for.
func (v *vi) await(b *buffer, r rune) {
	kind, n := v.waiting, max(1, v.count)
	v.waiting = 0
	if kind == 'r' {
		if to := v.along(b, n); to > b.pos && v.operator == 0 && r >= ' ' {
			shown := 0
			for i := b.pos; i < to; i = b.right(i) {
				shown++
			}
			b.set(slices.Concat(b.text[:b.pos], slices.Repeat([]rune{r}, shown), b.text[to:]), b.pos+shown-1)
		}
		v.done(b)
		return
	}
	v.found, v.sought = kind, r
	v.key(b, ';')
}

// target returns the position after n movements r. An inclusive movement includes the
// character at that position.
func (v *vi) target(b *buffer, r rune, n int) (to int, inclusive, ok bool) {
	switch r {
	case 'h', '\b', 0x7f:
		return v.back(b, n), false, true
	case 'l', ' ':
		return v.along(b, n), false, true
	case '0':
		return 0, false, true
	case '^':
		return b.runEnd(0, isBlank), false, true
	case '$':
		return len(b.text), false, true
	case '|':
		return b.atomStart(min(n-1, len(b.text))), false, true
	case 'w', 'W':
		return v.words(b, n, r == 'W'), false, true
	case 'b', 'B':
		return v.wordsBack(b, n, r == 'B'), false, true
	case 'e', 'E':
		end := v.wordEnds(b, n, r == 'E', false)
		return b.left(end), true, end > b.pos
	case ';':
		return v.seek(b, v.found, n)
	case ',':
		other := map[rune]rune{'f': 'F', 'F': 'f', 't': 'T', 'T': 't'}
		return v.seek(b, other[v.found], n)
	}
	return 0, false, false
}

// seek finds the nth character sought.
func (v *vi) seek(b *buffer, kind rune, n int) (to int, inclusive, ok bool) {
	step := 1
	if kind == 'F' || kind == 'T' {
		step = -1
	}
	at := b.pos
	for i := b.pos + step; kind != 0 && i >= 0 && i < len(b.text) && n > 0; i += step {
		if b.text[i] == v.sought && b.atomStart(i) == i {
			at = i
			n--
		}
	}
	if n > 0 || kind == 0 {
		return b.pos, false, false
	}
	if kind == 't' || kind == 'T' {
		at = b.atomStart(at - step)
	}
	return at, step > 0, true
}

func (v *vi) along(b *buffer, n int) int {
	i := b.pos
	for ; n > 0 && i < len(b.text); n-- {
		i = b.right(i)
	}
	return i
}

func (v *vi) back(b *buffer, n int) int {
	i := b.pos
	for ; n > 0 && i > 0; n-- {
		i = b.left(i)
	}
	return i
}

// like returns a function that reports whether a character is of the kind of r. Words are runs of
// one kind; blanks are between them.
func like(r rune, big bool) func(rune) bool {
	kind := func(r rune) int {
		switch {
		case isBlank(r):
			return 0
		case big || inWord(r):
			return 1
		}
		return 2
	}
	return func(other rune) bool { return kind(other) == kind(r) }
}

// words returns the start of the nth word that follows.
func (v *vi) words(b *buffer, n int, big bool) int {
	i := b.pos
	for ; n > 0 && i < len(b.text); n-- {
		i = b.atomEnd(b.runEnd(i, like(b.text[i], big)))
		i = b.runEnd(i, isBlank)
	}
	return i
}

// wordsBack returns the start of the nth word before.
func (v *vi) wordsBack(b *buffer, n int, big bool) int {
	i := b.pos
	for ; n > 0 && i > 0; n-- {
		if i = b.runStart(i, isBlank); i == 0 {
			break
		}
		i = b.atomStart(b.runStart(i, like(b.text[i-1], big)))
	}
	return i
}

// wordEnds returns the position behind the end of the nth word. If here is true, an end at the
// cursor counts.
func (v *vi) wordEnds(b *buffer, n int, big, here bool) int {
	i := b.pos
	for ; n > 0 && i < len(b.text); n-- {
		if i == b.pos && !here {
			i = b.right(i)
		}
		if i = b.runEnd(i, isBlank); i == len(b.text) {
			break
		}
		i = b.atomEnd(b.runEnd(i, like(b.text[i], big)))
	}
	return i
}

// paste inserts the killed text, n times, behind or before the cursor.
func (v *vi) paste(b *buffer, behind bool, n int) {
	if len(b.killed) == 0 {
		return
	}
	n = min(n, 1+most/len(b.killed))
	if behind {
		b.pos = b.right(b.pos)
	}
	b.put(slices.Repeat(b.killed, n))
	b.pos = b.left(b.pos)
}

// swapCase changes the case of n characters.
func (v *vi) swapCase(b *buffer, n int) {
	to := v.along(b, n)
	changed := slices.Clone(b.text)
	for i := b.pos; i < to; i = b.right(i) {
		switch r := changed[i]; {
		case unicode.IsUpper(r):
			changed[i] = unicode.ToLower(r)
		case unicode.IsLower(r):
			changed[i] = unicode.ToUpper(r)
		}
	}
	b.set(changed, to)
}
