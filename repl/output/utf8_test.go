package output

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 2*maxSequence)
	for _, test := range []struct {
		in, want string
		held     string // what is shown only when nothing follows
	}{
		{"", "", ""},
		{"plain\ttext\r\n", "plain\ttext\r\n", ""},
		{"\x1b[1;31mred\x1b[0m", "red", ""},
		{"\x1b[1@a\x1b[1~b", "ab", ""},
		{"\x1b[1 qa\x1b]0;\u271c\ab", "ab", ""},
		{"a\x1b_x\x1b\\", "a", ""},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\a", "link", ""},
		{"\x1bPx\x1b\\a\x1bXx\x1b\\b\x1b^x\x1b\\c\x1b_x\x1b\\d", "abcd", ""},
		{"\x1b(Ba\x1b7b\x1bcc", "abc", ""},
		{"\x1b //Ba\x1b(0b\x1b(~c\x1b0d\x1b~e", "abcde", ""},
		{"\u009b1mbold\u009b0m", "bold", ""},
		{"\u009d0;title\u009ca\x1bPx\u009c", "a", ""},
		{"\u0085a\u0080", "a", ""},
		{"\x1b[\nleft", "[\nleft", ""},
		{"\x1b(\nleft", "(\nleft", ""},
		{"\x1b[1\x7fm", "[1\x7fm", ""},
		{"\x1b\nleft\x1b\u007f", "\nleft\u007f", ""},
		{"\x1b(é\x1b[é", "(é[é", ""},
		{"\x1b]0;never ended\nleft", "]0;never ended\nleft", ""},
		{"\x1b]0;never ended\x1b[1mleft", "]0;never endedleft", ""},
		{"\x1b]" + long, "]" + long, ""},
		{"\x1b[" + long, long[1:], ""},
		{"\x1b[" + strings.Repeat("1;", maxSequence), "[" + strings.Repeat("1;", maxSequence), ""},
		{"a\x1b", "a", ""},
		{"a\x1b[1", "a", "[1"},
		{"a\u009b1", "a", "1"},
		{"a\x1b(", "a", "("},
		{"a\x1b]0;t", "a", "]0;t"},
		{"\xff\xfe", `\xff\xfe`, ""},
		{"\ufffd\xff", "\ufffd" + `\xff`, ""},
		{"é\u00a0ö", "é\u00a0ö", ""},
		{"a\xc2", "a", `\xc2`},
		{"\x1b\x1b[1mx", "x", ""},
	} {
		for _, size := range []int{len(test.in) + 1, 1, 2, 3} {
			var c UTF8
			got := ""
			for i := 0; i < len(test.in); i += size {
				got += c.Feed(test.in[i:min(i+size, len(test.in))])
			}
			if held := c.Flush(); got != test.want || held != test.held {
				t.Errorf("%.40q in pieces of %d: %.40q and %.40q, want %.40q and %.40q", test.in, size, got, held, test.want, test.held)
			}
		}
	}
	c := UTF8{Raw: true}
	if got := c.All("\x1b[1m\u009b0m\xc2"); got != "\x1b[1m\u009b0m"+`\xc2` || !c.Invalid() || c.Invalid() {
		t.Errorf("raw: %q", got)
	}
}

// A line that is shown has no more than a line, and not all of a long one.
func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{
		"\n a\x7f\tb\x1b[1m\u202ec \nd":       `a  b\u{202e}c`,
		strings.Repeat("ä", 500) + "\nb":      strings.Repeat("ä", 500),
		strings.Repeat("ä", 501):              strings.Repeat("ä", 500) + "...",
		"a" + strings.Repeat("\x01", 3) + "~": "a   ~",
	} {
		if got := FirstLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// However a text is cut, the same comes out.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\x1b[1mb\x1b[0m", "\xe2\x82\xac\xff", "\x1b]0;t\ax", "\u009b1m\xc2", "\x1b]\x1b\\", "\x1bP\xc2\x9c"} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, s string, seed uint64) {
		want, _ := StripSequences(s)
		r := rand.New(rand.NewPCG(seed, 0))
		var c UTF8
		var got strings.Builder
		for rest := s; rest != ""; {
			n := 1 + r.IntN(min(len(rest), 8))
			piece := c.Feed(rest[:n])
			if !utf8.ValidString(piece) {
				t.Fatalf("invalid piece %q", piece)
			}
			got.WriteString(piece)
			rest = rest[n:]
		}
		got.WriteString(c.Flush())
		if got.String() != want {
			t.Errorf("%q: in pieces %q, whole %q", s, got.String(), want)
		}
		if strings.ContainsRune(want, 0x1b) {
			t.Errorf("%q: %q", s, want)
		}
	})
}

// Whatever stands around them: joiners and the like are shown or escaped by
// what is before and behind them alone, and nothing else of Unicode that is not seen passes.
func FuzzPlaced(f *testing.F) {
	for _, s := range []string{"👨\u200d👩", "1\ufe0f\u20e3", "می\u200cخ", "क्\u200dष", "Do\u00adnau", "to\u00adol: x", "\u200d\u202e\U000e0041\xff"} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, s string, seed uint64) {
		got := written(Options{}, cut(rand.New(rand.NewPCG(seed, 0)), s)...)
		if want := reference(s, Options{}); got != want {
			t.Errorf("%q is %q, not %q", s, got, want)
		}
		for _, r := range got {
			if invisible(r) && !waits(r) {
				t.Errorf("%q is %q", s, got)
			}
		}
		if e := Escape(s); Escape(e) != e || strings.ContainsRune(e, softHyphen) {
			t.Errorf("%q is escaped as %q", s, e)
		}
	})
}
