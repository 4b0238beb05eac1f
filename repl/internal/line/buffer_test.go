package line

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// marked returns a buffer of text, in which | is the cursor.
func marked(text string) *buffer {
	before, after, _ := strings.Cut(text, "|")
	return &buffer{text: []rune(before + after), pos: utf8.RuneCountInString(before)}
}

func (b *buffer) String() string { return string(b.text[:b.pos]) + "|" + string(b.text[b.pos:]) }

func TestBuffer(t *testing.T) {
	const family, flag, accent = "👩‍👩‍👧", "🇩🇪", "e\u0301"
	tests := []struct {
		name, text string
		ops        []rune
		want       string
	}{
		{"left", "ab|c", []rune{opLeft}, "a|bc"},
		{"left at the start", "|abc", []rune{opLeft}, "|abc"},
		{"right", "ab|c", []rune{opRight, opRight}, "abc|"},
		{"home and end", "ab|c", []rune{opHome}, "|abc"},
		{"end", "ab|c", []rune{opEnd}, "abc|"},
		{"left over a family", "a" + family + "|", []rune{opLeft}, "a|" + family},
		{"rubout of a family", "a" + family + "|b", []rune{opRubout}, "a|b"},
		{"rubout of a flag", flag + flag + "|", []rune{opRubout}, flag + "|"},
		{"rubout of a combined letter", "a" + accent + "|", []rune{opRubout}, "a|"},
		{"delete of a combined letter", "|" + accent + "a", []rune{opDelete}, "|a"},
		{"delete at the end", "a|", []rune{opDelete}, "a|"},
		{"word left", "one two.three|", []rune{opWordLeft}, "one two.|three"},
		{"word right", "|one two", []rune{opWordRight}, "one| two"},
		{"word of other letters", "größe 日本|", []rune{opWordLeft, opWordLeft}, "|größe 日本"},
		{"kill to the end and yank", "ab|cd", []rune{opKillRight, opHome, opYank}, "cd|ab"},
		{"kill to the start", "ab|cd", []rune{opKillLeft}, "|cd"},
		{"kill words and yank them", "|one two three", []rune{opKillWord, opKillWord, opEnd, opYank}, " threeone two|"},
		{"kill words backwards", "one two three|", []rune{opRuboutWord, opRuboutWord, opYank}, "one two three|"},
		{"rubout of a path", "cat a/b-c|", []rune{opRuboutWord}, "cat |"},
		{"rubout of its last part", "cat a/b-c|", []rune{opRuboutAlnum}, "cat a/b-|"},
		{"transpose", "ab|c", []rune{opTranspose}, "acb|"},
		{"transpose at the end", "abc|", []rune{opTranspose}, "acb|"},
		{"transpose at the start", "|abc", []rune{opTranspose}, "|abc"},
		{"transpose wholes", "a" + accent + "|", []rune{opTranspose}, accent + "a|"},
		{"undo", "ab|c", []rune{opKillRight, opUndo}, "ab|c"},
		{"undo twice", "ab cd|", []rune{opRuboutWord, opRubout, opUndo, opUndo}, "ab cd|"},
		{"undo of nothing", "a|", []rune{opUndo, opUndo}, "a|"},
		{"yank of nothing", "a|", []rune{opYank}, "a|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := marked(tt.text)
			for _, op := range tt.ops {
				if !b.do(op) {
					t.Fatalf("%x is nothing for the line", op)
				}
			}
			if got := b.String(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Undo takes back what was typed, a word at a time.
func TestUndoOfTyping(t *testing.T) {
	b := &buffer{}
	for _, r := range "one two" {
		b.insert(r)
	}
	for _, want := range []string{"one |", "|", "|"} {
		if b.undo(); b.String() != want {
			t.Errorf("%q, want %q", b, want)
		}
	}
}

// What stands for a paste is one character.
func TestAtoms(t *testing.T) {
	const name = "[paste 1: 2 lines]"
	b := marked("a" + name + "|b")
	b.atoms = func() []string { return []string{name} }
	b.do(opLeft)
	if b.pos != 1 {
		t.Errorf("left: %q", b)
	}
	if b.do(opRight); b.pos != 1+len(name) {
		t.Errorf("right: %q", b)
	}
	if b.do(opRubout); b.String() != "a|b" {
		t.Errorf("rubout: %q", b)
	}
	const short = "[p a, b]"
	for _, tt := range []struct {
		text string
		op   rune
		keys string // of vi
		want string
	}{
		{"one @|", opRuboutWord, "", "one |"},
		{"one @ two|", opWordLeft, "", "one @ |two"},
		{"one @|", opWordLeft, "", "one |@"},
		{"one |@ two", opWordRight, "", "one @| two"},
		{"one |@ two", opKillWord, "", "one | two"},
		{"one:@|", opRuboutAlnum, "", "one:|"},
		{"|@ two", 0, "w", "@ |two"},
		{"|@ two", 0, "dw", "|two"},
		{"|@ two", 0, "cwx", "x| two"},
		{"x |@ two", 0, "e", "x @ tw|o"},
		{"x| @ two", 0, "e", "x |@ two"},
		{"x| @ two", 0, "de", "x| two"},
		{"one @ |two", 0, "b", "one |@ two"},
		{"one @ |two", 0, "2b", "|one @ two"},
		{"|x @ b", 0, "fb", "x @ |b"},
		{"|x @b", 0, "dtb", "|b"},
		{"|x @ y", 0, "5|", "x |@ y"},
		{"|@b", 0, "2~", "@|B"},
		{"|@b", 0, "2rx", "x|x"},
	} {
		b, v := marked(strings.ReplaceAll(tt.text, "@", short)), vi{command: true}
		b.atoms = func() []string { return []string{short} }
		if tt.op != 0 {
			b.do(tt.op)
		}
		for _, r := range tt.keys {
			if v.command {
				v.key(b, r)
			} else {
				b.insert(r)
			}
		}
		if want := strings.ReplaceAll(tt.want, "@", short); b.String() != want {
			t.Errorf("%q %x%s: %q, want %q", tt.text, tt.op, tt.keys, b, want)
		}
	}
}

func TestVi(t *testing.T) {
	tests := []struct{ text, keys, want string }{
		{"abc| def", "h", "ab|c def"},
		{"|abc def", "3l", "abc| def"},
		{"abc |def", "0", "|abc def"},
		{"  |abc", "0", "|  abc"},
		{"  abc|d", "^", "  |abcd"},
		{"|abc", "$", "ab|c"},
		{"|a b c d", "2w", "a b |c d"},
		{"|a.b c", "w", "a|.b c"},
		{"|a.b c", "W", "a.b |c"},
		{"a b |c", "2b", "|a b c"},
		{"a.b |c", "B", "|a.b c"},
		{"|one two", "e", "on|e two"},
		{"on|e two", "e", "one tw|o"},
		{"|one two three", "2e", "one tw|o three"},
		{"|a,b,c", "f,", "a|,b,c"},
		{"|a,b,c", "2f,", "a,b|,c"},
		{"|a,b,c", "t,", "|a,b,c"},
		{"|aa,b,c", "t,", "a|a,b,c"},
		{"a,b,|c", "F,", "a,b|,c"},
		{"a,b,|c", "T,", "a,b,|c"},
		{"|a,b,c", "f,;", "a,b|,c"},
		{"|a,b,c", "f,;,", "a|,b,c"},
		{"|abc", "f9", "|abc"},
		{"|abcdef", "3|", "ab|cdef"},
		{"|abc", "x", "|bc"},
		{"|abc", "2x", "|c"},
		{"ab|c", "x", "a|b"},
		{"ab|c", "X", "a|c"},
		{"|one two three", "dw", "|two three"},
		{"|one two three", "2dw", "|three"},
		{"|one two three", "d2w", "|three"},
		{"|one two three", "dW", "|two three"},
		{"one |two", "db", "|two"},
		{"|one two", "de", "| two"},
		{"|one two", "d$", "|"},
		{"one |two", "d0", "|two"},
		{"a |b c", "dd", "|"},
		{"|a,b,c", "df,", "|b,c"},
		{"|a,b,c", "dt,", "|,b,c"},
		{"a |b c", "D", "a| "},
		{"|one two", "dwp", "tone| wo"},
		{"|ab", "xp", "b|a"},
		{"|ab", "xP", "|ab"},
		{"|ab", "x3p", "baa|a"},
		{"|one two", "yw$p", "one twoone| "},
		{"|one", "yyp", "oon|ene"},
		{"|one", "YP", "on|eone"},
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"|abc", "9rx", "xx|x"},
		{"|aBc", "3~", "Ab|C"},
		{"|one two three", "dwdwuu", "|one two three"},
		{"|one two", "dwu", "|one two"},
		{"|abc", "dzx", "|bc"}, // no movement: nothing is done
		{"a|bc", "d", "a|bc"},
		{"|", "xdwp$u~", "|"},
	}
	for _, tt := range tests {
		b, v := marked(tt.text), vi{command: true}
		for _, r := range tt.keys {
			if op := v.key(b, r); op != 0 {
				t.Errorf("%q %q: op %x", tt.text, tt.keys, op)
			}
		}
		if got := b.String(); got != tt.want || !v.command {
			t.Errorf("%q %q: %q, want %q, command %v", tt.text, tt.keys, got, tt.want, v.command)
		}
	}
}

// These end in insertion.
func TestViInsertion(t *testing.T) {
	tests := []struct{ text, keys, want string }{
		{"a|bc", "i", "a|bc"},
		{"a|bc", "I", "|abc"},
		{"a|bc", "a", "ab|c"},
		{"a|bc", "A", "abc|"},
		{"|abc", "2s", "|c"},
		{"a|bc", "S", "|"},
		{"a|bc", "C", "a|"},
		{"|one two", "cw", "| two"},
		{"|one two three", "c2w", "| three"},
		{"on|e two", "cw", "on| two"},
		{"|one two", "cc", "|"},
		{"|a,b", "ct,", "|,b"},
		{"|one two", "c$", "|"},
	}
	for _, tt := range tests {
		b, v := marked(tt.text), vi{command: true}
		for _, r := range tt.keys {
			v.key(b, r)
		}
		if got := b.String(); got != tt.want || v.command {
			t.Errorf("%q %q: %q, want %q, command %v", tt.text, tt.keys, got, tt.want, v.command)
		}
	}
}

func TestViElsewhere(t *testing.T) {
	for key, want := range map[rune]rune{'k': opPrev, 'j': opNext, '/': opSearch, 'v': opEdit, 'q': 0} {
		v := vi{command: true}
		if got := v.key(marked("a|b"), key); got != want {
			t.Errorf("%c: %x, want %x", key, got, want)
		}
	}
}

// Whatever is typed, the cursor stays in the text and between what the user
// sees as characters.
func FuzzBuffer(f *testing.F) {
	f.Add("one two", "\x01dwp3x", true)
	f.Add("👩‍👩‍👧🇩🇪", "\x02\x03\x10", false)
	f.Fuzz(func(t *testing.T, text, keys string, command bool) {
		if len(text) > 200 || len(keys) > 60 {
			return
		}
		b, v := &buffer{text: []rune(strings.ToValidUTF8(text, ""))}, vi{command: command}
		for _, r := range keys {
			switch {
			case r < ' ':
				b.do(opFirst + 1 + r)
			case v.command:
				v.key(b, r)
			default:
				b.insert(r)
			}
			if b.pos < 0 || b.pos > len(b.text) {
				t.Fatalf("%d of %d after %q", b.pos, len(b.text), keys)
			}
		}
		for i := 0; i <= len(b.text); i++ {
			if l, r := b.left(i), b.right(i); l < 0 || l > i || i > 0 && l == i || r < i || r > len(b.text) || i < len(b.text) && r == i {
				t.Fatalf("%q: left of %d is %d, right %d", string(b.text), i, l, r)
			}
		}
	})
}

func TestLayoutOfClusters(t *testing.T) {
	b := &buffer{text: []rune("x👩‍👩‍👧e\u0301🇩🇪")}
	var ends []int
	for i := 0; i < len(b.text); i = b.right(i) {
		ends = append(ends, b.right(i))
	}
	if want := []int{1, 6, 8, 10}; !slices.Equal(ends, want) {
		t.Errorf("%v, want %v", ends, want)
	}
	if w := displaywidth.String(string(b.text)); w != 6 {
		t.Errorf("width %d", w)
	}
}
