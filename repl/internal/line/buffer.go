package line

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// A buffer is the edited line. The cursor stands before the character at pos.
type buffer struct {
	text []rune
	pos  int

	// atoms returns texts that are inserted and deleted as a whole, such as the placeholder of a
	// paste.
	atoms func() []string

	killed  []rune
	killing bool // the last op has killed text

	past   []snapshot
	typing bool // the last op has typed text
}

// A snapshot is a state that undo restores.
type snapshot struct {
	text []rune
	pos  int
}

// longestPast is how many steps undo goes back.
const longestPast = 200

// reset begins an empty line. Killed text is preserved.
func (b *buffer) reset() {
	b.text, b.pos, b.past, b.typing, b.killing = nil, 0, nil, false, false
}

// save stores the current state for undo.
func (b *buffer) save() {
	if n := len(b.past); n > 0 && slices.Equal(b.past[n-1].text, b.text) {
		return
	}
	b.past = append(b.past, snapshot{slices.Clone(b.text), b.pos})
	if n := len(b.past) - longestPast; n > 0 {
		b.past = b.past[n:]
	}
}

// set replaces the whole line.
func (b *buffer) set(text []rune, pos int) {
	b.save()
	b.text, b.pos = text, pos
	b.typing, b.killing = false, false
}

// insert types r. Undo removes typed text word by word.
func (b *buffer) insert(r rune) {
	if !b.typing || b.pos > 0 && unicode.IsSpace(b.text[b.pos-1]) && !unicode.IsSpace(r) {
		b.save()
	}
	b.text = slices.Insert(b.text, b.pos, r)
	b.pos++
	b.typing, b.killing = true, false
}

// put inserts text in one step.
func (b *buffer) put(text []rune) {
	b.save()
	b.text = slices.Insert(b.text, b.pos, text...)
	b.pos += len(text)
	b.typing, b.killing = false, false
}

// undo restores the state before the last step.
func (b *buffer) undo() {
	b.typing, b.killing = false, false
	for n := len(b.past); n > 0; n = len(b.past) {
		last := b.past[n-1]
		b.past = b.past[:n-1]
		if !slices.Equal(last.text, b.text) {
			b.text, b.pos = last.text, last.pos
			return
		}
	}
}

// cut removes the text between two positions, from before to.
func (b *buffer) cut(from, to int) {
	if from == to {
		return
	}
	b.save()
	b.text = slices.Delete(slices.Clone(b.text), from, to)
	b.pos = from
	b.typing = false
}

// kill is cut, and stores the removed text. It joins the texts of successive kills.
func (b *buffer) kill(from, to int) {
	back := from > to
	if back {
		from, to = to, from
	}
	if from == to {
		return
	}
	piece := slices.Clone(b.text[from:to])
	switch {
	case !b.killing:
		b.killed = piece
	case back:
		b.killed = append(piece, b.killed...)
	default:
		b.killed = append(slices.Clone(b.killed), piece...)
	}
	b.cut(from, to)
	b.killing = true
}

// do carries out an op that concerns only the line. It returns false for other ops.
func (b *buffer) do(op rune) bool {
	switch op {
	case opKillRight:
		b.kill(b.pos, len(b.text))
	case opKillLeft:
		b.kill(b.pos, 0)
	case opKillWord:
		b.kill(b.pos, b.wordEnd(b.pos))
	case opRuboutWord:
		b.kill(b.pos, b.spaceLeft(b.pos))
	case opRuboutAlnum:
		b.kill(b.pos, b.wordLeft(b.pos))
	default:
		b.killing = false
		return b.move(op) || b.change(op)
	}
	return true
}

// move carries out an op that moves the cursor.
func (b *buffer) move(op rune) bool {
	switch op {
	case opLeft:
		b.pos = b.left(b.pos)
	case opRight:
		b.pos = b.right(b.pos)
	case opWordLeft:
		b.pos = b.wordLeft(b.pos)
	case opWordRight:
		b.pos = b.wordEnd(b.pos)
	case opHome:
		b.pos = 0
	case opEnd:
		b.pos = len(b.text)
	default:
		return false
	}
	b.typing = false
	return true
}

// change carries out an op that changes the line.
func (b *buffer) change(op rune) bool {
	switch op {
	case opRubout:
		b.cut(b.left(b.pos), b.pos)
	case opDelete:
		b.cut(b.pos, b.right(b.pos))
	case opKillAll:
		b.cut(0, len(b.text))
	case opYank:
		b.put(b.killed)
	case opTranspose:
		b.transpose()
	case opUndo:
		b.undo()
	default:
		return false
	}
	return true
}

// transpose swaps the characters around the cursor, at the end the last two.
func (b *buffer) transpose() {
	mid := b.pos
	if mid == len(b.text) {
		mid = b.left(mid)
	}
	from, to := b.left(mid), b.right(mid)
	if from == mid || to == mid {
		return
	}
	swapped := slices.Concat(b.text[:from], b.text[mid:to], b.text[from:mid], b.text[to:])
	b.set(swapped, to)
}

// left returns the position of the visible character before i.
func (b *buffer) left(i int) int {
	if i == 0 {
		return 0
	}
	if b.atoms != nil {
		before := string(b.text[:i])
		for _, a := range b.atoms() {
			if strings.HasSuffix(before, a) {
				return i - utf8.RuneCountInString(a)
			}
		}
	}
	start, at := 0, 0
	for g := displaywidth.StringGraphemes(string(b.text)); g.Next() && at < i; {
		start = at
		at += utf8.RuneCountInString(g.Value())
	}
	return start
}

// right returns the position behind the character at i.
func (b *buffer) right(i int) int {
	if i >= len(b.text) {
		return len(b.text)
	}
	if b.atoms != nil {
		behind := string(b.text[i:])
		for _, a := range b.atoms() {
			if strings.HasPrefix(behind, a) {
				return i + utf8.RuneCountInString(a)
			}
		}
	}
	at := 0
	for g := displaywidth.StringGraphemes(string(b.text)); g.Next() && at <= i; {
		at += utf8.RuneCountInString(g.Value())
	}
	return at
}

// inWord reports whether r is part of a word.
func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// atom returns the start and the end of the atom that i lies inside of, or i twice.
func (b *buffer) atom(i int) (from, to int) {
	if b.atoms == nil {
		return i, i
	}
	for _, name := range b.atoms() {
		atom := []rune(name)
		for from := max(0, i-len(atom)+1); from < i; from++ {
			if to := from + len(atom); to <= len(b.text) && slices.Equal(b.text[from:to], atom) {
				return from, to
			}
		}
	}
	return i, i
}

func (b *buffer) atomStart(i int) int { from, _ := b.atom(i); return from }
func (b *buffer) atomEnd(i int) int   { _, to := b.atom(i); return to }

// runStart returns the start of the run of characters of a kind that ends at i.
func (b *buffer) runStart(i int, kind func(rune) bool) int {
	for i > 0 && kind(b.text[i-1]) {
		i--
	}
	return i
}

// runEnd returns the end of the run of characters of a kind that begins at i.
func (b *buffer) runEnd(i int, kind func(rune) bool) int {
	for i < len(b.text) && kind(b.text[i]) {
		i++
	}
	return i
}

func not(kind func(rune) bool) func(rune) bool { return func(r rune) bool { return !kind(r) } }

// wordLeft returns the start of the word before i.
func (b *buffer) wordLeft(i int) int {
	return b.atomStart(b.runStart(b.runStart(i, not(inWord)), inWord))
}

// wordEnd returns the end of the word behind i.
func (b *buffer) wordEnd(i int) int {
	return b.atomEnd(b.runEnd(b.runEnd(i, not(inWord)), inWord))
}

// isBlank reports whether r separates words.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == newlineMark }

// spaceLeft returns the start of the word before i, where only blanks separate words.
func (b *buffer) spaceLeft(i int) int {
	return b.atomStart(b.runStart(b.runStart(i, isBlank), not(isBlank)))
}
