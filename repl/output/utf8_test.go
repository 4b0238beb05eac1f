package output

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 2*maxSequence)
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"plain\ttext\r\n", "plain\ttext\r\n"},
		{"\x1b[1;31mred\x1b[0m", "red"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\a", "link"},
		{"\x1b(Ba\x1b7b\x1bcc", "abc"},
		{"\u009b1mbold\u009b0m", "bold"},
		{"\u0085a\u0080", "a"},
		{"\x1b[\nleft", "[\nleft"},
		{"\x1b]0;never ended\nleft", "]0;never ended\nleft"},
		{"\x1b]" + long, "]" + long},
		{"\x1b[" + long, "xxx"[:0] + long[1:]},
		{"\x1b", ""},
		{"\xff\xfe", `\xff\xfe`},
		{"é\u00a0ö", "é\u00a0ö"},
		{"\xc2", `\xc2`},
		{"\x1b\x1b[1mx", "x"},
	} {
		if got, _ := StripSequences(test.in); got != test.want {
			t.Errorf("%.40q: %.40q, want %.40q", test.in, got, test.want)
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
