package shell

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func strip(s string) string {
	var st stripper
	return string(st.end(st.append(nil, []byte(s))))
}

func TestStrip(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "a b\tc\n", "a b\tc\n"},
		{"colour", "a\x1b[31mb\x1b[0mc", "abc"},
		{"colour with colons", "\x1b[38:2::255:0:0mx", "x"},
		{"private mode", "a\x1b[?25lb\x1b[2Jc", "abc"},
		{"unfinished", "a\x1b[31", "a"},
		{"unfinished before a line end", "a\x1b[31\nb", "a\nb"},
		{"title", "a\x1b]0;title\x07b", "ab"},
		{"title ended by ST", "a\x1b]0;title\x1b\\b", "ab"},
		{"title ended by C1", "a\x1b]0;title\u009cb", "ab"},
		{"letter in a title", "a\x1b]0;\u00e9\u00a0t\x07b", "ab"},
		{"link", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\.", "link."},
		{"clipboard", "a\x1b]52;c;ZXZpbA==\x07b", "ab"},
		{"unclosed title", "a\x1b]0;hidden\nshown", "a\nshown"},
		{"title broken by a colour", "a\x1b]0;t\x1b[1mb", "ab"},
		{"sixel", "a\x1bPq#0;2;0\x1b\\b", "ab"},
		{"application command", "a\x1b_Gapc\x1b\\b", "ab"},
		{"charset", "a\x1b(Bb\x1b=c\x1b(%5d", "abcd"},
		{"broken charset", "a\x1b(\nb", "a\nb"},
		{"C1", "a\u009b31mb\u0085c\u009d0;t\u009cd", "abcd"},
		{"stray byte", "a\x9b31mb", "a\x9b31mb"},
		{"double escape", "a\x1b\x1b[31mb", "ab"},
		{"escape at the end", "a\x1b", "a"},
		{"escape before a letter beyond ASCII", "\x1b\u65e5", "\u65e5"},
		{"half a control around a sequence", "a\xc2\x1b[m\x9b31mb\xc2\u0085\x9b", "a\uFFFD\x9b31mb\uFFFD\x9b"},
		{"half a letter at the end", "a\xc2", "a\xc2"},
		{"letters", "\u00a9 caf\u00e9 \u65e5\u672c \xff", "\u00a9 caf\u00e9 \u65e5\u672c \xff"},
		{"broken sequence keeps the letter", "\x1b[3\u00e9", "\u00e9"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strip(test.in); got != test.want {
				t.Errorf("%q gave %q; want %q", test.in, got, test.want)
			}
		})
	}
}

// FuzzStrip checks that it does not matter where a text is cut, and that no
// sequence is left.
func FuzzStrip(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\u009b0m\x1b]0;t\x07c\xc2"), uint8(3), uint8(7))
	f.Add([]byte("a\xc2\x1b[m\x9b31mb"), uint8(2), uint8(1))
	f.Add([]byte("\x1b]8;;u\x1b\\x\x1bPq\u009c\n\xc2\xc2\x9b1m"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, i, j uint8) {
		whole := strip(string(in))
		a := min(int(i), len(in))
		b := min(a+int(j), len(in))
		var st stripper
		got := st.append(nil, in[:a])
		got = st.append(got, in[a:b])
		got = st.end(st.append(got, in[b:]))
		if string(got) != whole {
			t.Errorf("cut at %d and %d: %q; whole: %q", a, b, got, whole)
		}
		if strings.ContainsRune(whole, 0x1b) {
			t.Errorf("escape left in %q", whole)
		}
		if strings.ContainsFunc(whole, func(r rune) bool { return r >= 0x80 && r <= 0x9f }) {
			t.Errorf("a C1 control of %q is left in %q", in, whole)
		}
		if n, m := bytes.Count(in, []byte("\n")), strings.Count(whole, "\n"); n != m {
			t.Errorf("%d line ends of %d left", m, n)
		}
	})
}

// What editors and pagers draw on a second screen is gone when they end, and
// what is taken back never stood there.
func TestSecondScreen(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[?1049hscreen\x1b[2J\x1b[?1049lb": "ab",
		"a\x1b[?47hscreen":                      "a",
		"a\x1b[?25lb\x1b[?1049lc":               "abc",
		"a\x1b[?1049mb":                         "ab",
		"a\x1b[?47h\x1b\u00e9\x1b[?47lb":        "ab",
	} {
		for _, size := range []int{1, 3, len(in)} {
			s := stripper{screens: true}
			var got []byte
			for piece := range slices.Chunk([]byte(in), size) {
				got = s.append(got, piece)
			}
			if got = s.end(got); string(got) != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, size, got, want)
			}
		}
	}
	for in, want := range map[string]string{"ab\b \bc\r\n": "ac\n", "\xc3\xa9\b \b\b \b": "", "\n\b \bx": "\nx"} {
		if got := rubbedOut(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
